// A whole scan of one file, of any content, while calls to the system go wrong. What the table says
// is what it says of the whole file, or of what the cut has left; else it says that it cannot tell.
#include "core/scan/scan.hpp"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "choices.hpp"
#include "core/scan/scan_table.hpp"
#include "dump_seeds.hpp"
#include "served_system.hpp"
#include "table_values.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

using tests::is_null;
using tests::text;
using tests::value;

constexpr std::array<const char*, 4> kNames = {
    "Add.a.1.2.1700000000000000", "Add.a.1.2.1700000000000000.csv",
    "Add.a.1.2.1700000000000000.output.3.npy", "whatever"};
constexpr std::size_t kMaxZeros = std::size_t{96} << 10;  // more than a first read takes

// A row by where its tensor is, and all that is said of it.
struct Rows {
  std::map<std::string, std::string> said;  // with the status and the note
  std::map<std::string, std::string> numbers;
  std::map<std::string, std::string> status;
  std::map<std::string, bool> explained;  // whether there is a note
};

std::string number_text(const Table& table, std::string_view name, std::size_t row) {
  if (is_null(table, name, row)) return " null";
  return " " + std::to_string(value<std::uint64_t>(table, name, row));  // the bits, if a float64
}

std::string text_or_null(const Table& table, std::string_view name, std::size_t row) {
  return is_null(table, name, row) ? "null" : std::string(text(table, name, row));
}

Rows rows_of(const Table& table) {
  Rows rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(table.n_rows); ++i) {
    const std::string key = text_or_null(table, "io", i) + number_text(table, "index", i) + " " +
                            std::to_string(rows.said.size());
    std::string numbers;
    for (const char* name : {"nbytes", "count", "max", "min", "mean", "l2norm", "nan", "pos_inf",
                             "neg_inf", "zero", "subnormal", "saturated", "first_bad"}) {
      numbers += number_text(table, name, i);
    }
    const std::string status = text_or_null(table, "status", i);
    const std::string note = text_or_null(table, "note", i);
    rows.said[key] = numbers + status + note;
    rows.numbers[key] = numbers;
    rows.status[key] = status;
    rows.explained[key] = note != "null";
  }
  return rows;
}

struct Setup {
  std::string name;
  Engine engine = Engine::read;
  int threads = 1;
  bool logical = false;
};

struct Seen {
  bool has_ended = true;  // false: there was no root to be scanned
  bool has_shrunk = false;
  Rows rows;
};

Seen scan(const Setup& setup, std::vector<std::byte> content, std::vector<Fault> faults = {}) {
  Seen seen;
  const ServedSystem system(setup.name, std::move(content), std::move(faults));
  ScanOptions options;
  options.level = kernels::Level::full;
  options.logical = setup.logical;
  options.engine = setup.engine;
  options.parallelism = {setup.threads, setup.threads};
  Scan scan({ServedSystem::root()}, options);
  scan.start();
  try {
    while (!scan.wait_for(std::chrono::milliseconds(100))) {
    }
    seen.rows = rows_of(make_table(scan));
  } catch (const SystemError&) {
    seen.has_ended = false;
  }
  seen.has_shrunk = system.has_shrunk();
  return seen;
}

std::vector<Fault> read_faults(Choices& choices) {
  std::vector<Fault> faults(choices.byte() % 4);
  for (Fault& fault : faults) {
    fault.call = choices.byte() % 32;
    fault.kind = static_cast<Fault::Kind>(choices.byte() % 5);
    fault.nbytes = choices.up_to(0xFFFF);
  }
  return faults;
}

bool is_harmless(const Fault& fault) {
  return fault.kind == Fault::Kind::interrupted || fault.kind == Fault::Kind::short_read;
}

// Rows that are ok say what the whole file's rows say, or those of what the cut has left.
void check_honest(const Rows& found, const Rows& whole, const Rows& left) {
  const auto has = [](const Rows& rows, const std::string& key, const std::string& numbers) {
    const auto row = rows.numbers.find(key);
    return row != rows.numbers.end() && row->second == numbers;
  };
  for (const auto& [key, numbers] : found.numbers) {
    if (found.status.at(key) == "ok") {
      CHECK(has(whole, key, numbers) || has(left, key, numbers));
    } else {
      CHECK(found.explained.at(key));
    }
  }
}

}  // namespace

void run(std::span<const std::byte> input) {
  // Small buffers: making them is most of what a scan of a small file takes under a sanitizer.
  static const bool is_set = ::setenv("FASTDUMP_CHUNK_MIB", "1", 1) == 0;
  CHECK(is_set);
  Choices choices(input);
  Setup setup;
  setup.name = choices.of(kNames);
  setup.engine = choices.flag() ? Engine::mmap : Engine::read;
  setup.logical = choices.flag();
  const std::size_t n_zeros = choices.flag() ? choices.up_to(kMaxZeros) : 0;
  const std::vector<Fault> faults = read_faults(choices);
  std::vector<std::byte> content(choices.rest().size() + n_zeros);
  std::ranges::copy(choices.rest(), content.begin());

  const Rows whole = scan(setup, content).rows;
  Setup other = setup;
  other.engine = setup.engine == Engine::mmap ? Engine::read : Engine::mmap;
  other.threads = 2;
  CHECK(scan(other, content).rows.said == whole.said);
  if (faults.empty()) return;
  const Seen seen = scan(setup, content, faults);
  if (std::ranges::all_of(faults, is_harmless)) {
    CHECK(seen.has_ended);
    CHECK(seen.rows.said == whole.said);
    return;
  }
  std::uint64_t n_left = content.size();
  for (const Fault& fault : faults) {
    if (fault.kind == Fault::Kind::shrinks) n_left = std::min(n_left, fault.nbytes);
  }
  content.erase(content.begin() + static_cast<std::ptrdiff_t>(n_left), content.end());
  if (seen.has_ended) check_honest(seen.rows, whole, scan(setup, content).rows);
}

std::vector<std::string> seeds() {
  std::vector<std::string> inputs;
  std::string
      faults;  // from the end: a name, the engine, logical, no zeros, one fault of each kind
  for (char kind = 0; kind < 5; ++kind) {
    faults =
        std::string{'\x09', '\0', kind, static_cast<char>(5 + kind), '\1', '\0', '\0', kind, '\0'};
    inputs.push_back(standard_seed() + faults);
  }
  for (const std::string& file : dump_seeds()) inputs.push_back(file + std::string(5, '\0'));
  inputs.back().back() = '\x01';
  inputs[inputs.size() - 2].back() = '\x02';
  return inputs;
}

}  // namespace fastdump::fuzz
