// Files that somebody writes while they are described: each byte of a header is read once, so that
// what was checked is what is used.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/formats/file_format.hpp"
#include "core/formats/file_name.hpp"
#include "core/scan/file_header.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"
#include "invariants.hpp"
#include "nano_file.hpp"
#include "npy_file.hpp"
#include "standard_file.hpp"
#include "table_values.hpp"
#include "temporary_directory.hpp"
#include "watched_system.hpp"

namespace fastdump {
namespace {

using namespace tests;
using Verdict = WatchedSystem::Verdict;

constexpr std::string_view kName = "Add.a.1.2.1700000000000000";
constexpr std::size_t kHeadNbytes = 64;

// A file whose every byte changes as soon as it was read, and which counts how often that was.
class FleetingFile final : public HeaderBytes {
 public:
  FleetingFile(std::span<const std::byte> head, std::string_view bytes)
      : HeaderBytes(head, bytes.size()), bytes_(bytes), n_read_(bytes.size()) {
    for (std::size_t i = 0; i < head.size(); ++i) n_read_[i] = 1;
  }
  bool has_all_bytes() override { return true; }
  int most_read() const { return *std::ranges::max_element(n_read_); }
  std::size_t n_bytes_read() const {
    return static_cast<std::size_t>(std::ranges::count_if(n_read_, [](int n) { return n != 0; }));
  }

 private:
  std::size_t fetch(std::uint64_t offset, std::span<std::byte> buffer) override {
    const std::size_t n = std::min<std::size_t>(buffer.size(), bytes_.size() - offset);
    for (std::size_t i = 0; i < n; ++i) {
      buffer[i] = static_cast<std::byte>(bytes_[offset + i]);
      bytes_[offset + i] = static_cast<char>(~bytes_[offset + i]);
      ++n_read_[offset + i];
    }
    return n;
  }

  std::string bytes_;
  std::vector<int> n_read_;
};

std::vector<FileDescription> describe_fleeting(std::string_view bytes) {
  const Head head(bytes.substr(0, kHeadNbytes));
  FleetingFile file(head.span(), bytes);
  std::vector<FileDescription> reused;
  FileContent content = describe_content(file, parse_file_name(kName), reused);
  CHECK_EQ(file.most_read(), 1);
  const auto* refusal = std::get_if<Refusal>(&content);
  CHECK_EQ(refusal == nullptr ? "" : refusal->what, "");
  return std::get<DumpedTensors>(std::move(content)).dumps;
}

// Tensors with their data between them, and texts of every kind.
constexpr std::size_t kTensors = 40;
constexpr std::size_t kDataNbytes = 20000;

std::string inline_file() {
  Message message;
  message.text(1, "1.0");
  for (std::size_t i = 0; i < kTensors; ++i) {
    message.message(3, Message()
                           .number(1, 3)
                           .shape(3, {kDataNbytes})
                           .message(4, Message().text(1, "original"))
                           .text(5, std::string(kDataNbytes, '\x1a')));
  }
  message.message(7, Message().text(1, "name").text(2, std::string(9000, 'v')));
  return message.text(6, "operator").bytes();
}

void test_every_byte_is_read_once() {
  const std::string message = inline_file();
  const std::vector<FileDescription> dumps = describe_fleeting(message);
  CHECK_EQ(dumps.front().tensors.size(), kTensors);
  CHECK_EQ(dumps.front().op_name, "operator");
  CHECK_EQ(dumps.front().attrs.at(0).second, std::string(9000, 'v'));
  CHECK_EQ(dumps.front().original_ops.size(), kTensors);
  check_invariants(dumps, message.size());

  const Message long_header =
      Message().text(9, std::string(9000, 'x')).message(3, output({.shape = {4}, .size = 16}));
  const std::string standard = with_length(long_header) + std::string(16, '\1');
  CHECK_EQ(describe_fleeting(standard + standard + standard).size(), 3U);
  const std::string npy = npy_header(npy_text("<f4", "(4,)") + std::string(9000, ' '));
  CHECK_EQ(describe_fleeting(npy + std::string(16, '\1')).size(), 1U);
  const std::string nano = nano_header(tlv(77, std::string(9000, 'x')) +
                                       nano_inputs({nano_input({.shape = {4}, .size = 16})}));
  CHECK_EQ(describe_fleeting(nano + std::string(16, '\1')).size(), 1U);
}

// Data are skipped, not read.
void test_data_stay_unread() {
  const std::string message = inline_file();
  const Head head(std::string_view(message).substr(0, kHeadNbytes));
  FleetingFile file(head.span(), message);
  std::vector<FileDescription> reused;
  static_cast<void>(describe_content(file, parse_file_name(kName), reused));
  CHECK(file.n_bytes_read() < kTensors * 4200 + 20000);
}

// A payload that was skipped at a null address: the last dump is placed anew, but not read anew.
void test_a_dump_that_is_placed_twice_is_read_once() {
  const Message partial = two_inputs_and_output(1, 0, 3);
  const std::string skipped = with_length(partial) + std::string(48, 'a') + std::string(16, 'c');
  const std::string one =
      with_length(Message().text(6, "op").message(3, output({.shape = {4}, .size = 16}))) +
      std::string(16, '\1');
  const std::string bytes = skipped + one;
  const Head head(std::string_view(bytes).substr(0, skipped.size() - 64));  // the first header
  FleetingFile file(head.span(), bytes);
  std::vector<FileDescription> reused;
  const FileContent content = describe_content(file, parse_file_name(kName), reused);
  CHECK_EQ(std::get<DumpedTensors>(content).dumps.size(), 1U);  // its header has changed: no dump
  CHECK_EQ(std::get<DumpedTensors>(content).dumps.at(0).tensors.size(), 3U);
}

void overwrite(const std::string& path, std::size_t offset, char byte) {
  const int descriptor = ::open(path.c_str(), O_WRONLY);
  CHECK_EQ(::pwrite(descriptor, &byte, 1, static_cast<off_t>(offset)), 1);
  ::close(descriptor);
}

// Before each read of a scan in turn, a tag of the message becomes another: a tensor more or less
// of a kind, an attribute more, a text in the place of a message.
void test_tags_that_change_between_reads() {
  const TemporaryDirectory directory;
  const std::string message = inline_file();
  const std::string path = directory.write(kName, message);
  const std::size_t first_tensor = message.find('\x1a');
  const std::size_t stride =
      (message.find("\x3a", kTensors * kDataNbytes) - first_tensor) / kTensors;
  ScanOptions options;
  const auto scan_once = [&](const WatchedSystem::Watch& watch) {
    const WatchedSystem watched(watch);
    Scan scan({path}, options);
    scan.start();
    while (!scan.wait_for(std::chrono::milliseconds(100))) {
    }
    const Table table = make_table(scan);
    CHECK(table.n_rows >= 1 && table.n_rows <= static_cast<std::int64_t>(kTensors));
    for (const NamedColumn& named : table.columns) CHECK_EQ(named.column->size(), table.n_rows);
    return watched.n_calls();
  };
  const std::size_t n_calls = scan_once([](Call, std::size_t) { return Verdict{}; });
  CHECK(n_calls > kTensors);
  for (const char tag : {'\x0a', '\x22', '\x2a', '\x3a', '\x32', '\x1b'}) {
    for (const std::size_t tensor : {std::size_t{0}, kTensors / 2, kTensors - 1}) {
      const std::size_t offset = first_tensor + tensor * stride;
      CHECK_EQ(message[offset], '\x1a');
      for (std::size_t number = 0; number < n_calls; ++number) {
        scan_once([&](Call, std::size_t n) {
          if (n == number) overwrite(path, offset, tag);
          return Verdict{};
        });
        overwrite(path, offset, '\x1a');
      }
    }
  }
}

// The same by another thread, at any time.
void test_tags_that_change_all_the_time() {
  const TemporaryDirectory directory;
  const std::string message = inline_file();
  const std::string path = directory.write(kName, message);
  const std::size_t first_tensor = message.find('\x1a');
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (std::size_t round = 0; !stop; ++round) {
      overwrite(path, first_tensor, round % 2 == 0 ? '\x22' : '\x1a');
    }
  });
  for (int i = 0; i < 300; ++i) {
    Scan scan({path}, {});
    scan.start();
    while (!scan.wait_for(std::chrono::milliseconds(100))) {
    }
    CHECK(make_table(scan).n_rows >= 1);
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_every_byte_is_read_once();
  test_data_stay_unread();
  test_a_dump_that_is_placed_twice_is_read_once();
  test_tags_that_change_between_reads();
  test_tags_that_change_all_the_time();
  return tests::exit_code();
}
