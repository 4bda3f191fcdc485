// The index of a dump: which names it lists, in which order, and what is selected by them.

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/scan/scan.hpp"
#include "core/scan/scan_table.hpp"
#include "core/tree/glob.hpp"
#include "core/tree/index.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using tests::TemporaryDirectory;

Index open_index(const std::vector<std::string>& roots, const WalkOptions& options = {}) {
  const std::atomic<bool> stop = false;
  return {roots, options, stop};
}

Index::Positions all(const Index& index) {
  Index::Positions positions(index.size());
  std::iota(positions.begin(), positions.end(), 0U);
  return positions;
}

// Paths, separated by blanks.
std::string paths(const Index& index, const Index::Positions& positions) {
  std::string text;
  for (const std::uint32_t position : positions) text += index.shown_path(position) + " ";
  return text;
}

std::string skipped(const Index& index) {
  std::string text;
  for (const auto& [reason, n] : index.skipped()) text += std::to_string(n) + " " + reason + "; ";
  return text;
}

void test_lists_names_of_dumps() {
  const TemporaryDirectory directory;
  const std::vector<std::string> listed = {
      "Add.a.1.2.1700000000000000",
      "Add.a.1.2.1700000000000000.csv",
      "Opdebug.Node_OpDebug.1.2.1700000000000001",
      "exception_info.2.1.1700000000000002",
      "9134657216587341217",
      "statistic.csv",
      "weights.output.0.npy",
      "x.custom.20240101120000123",
  };
  for (const std::string& name : listed) directory.write(name, "");
  for (const char* name : {"mapping.csv", "notes.txt", "Add.a.1.2.1700000000000000.output.0.bin",
                           "a.output.0.pt", "k.1.2.20240101120000123.core", "k.o"}) {
    directory.write(name, "");
  }
  CHECK_EQ(::mkfifo((directory.path() / "Add.f.1.2.1700000000000000").c_str(), 0600), 0);
  const Index index = open_index({directory.path()});
  std::vector<bool> found(listed.size());
  for (const std::uint32_t position : all(index)) {
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (index.shown_path(position) == listed[i]) found[i] = true;
    }
  }
  CHECK_EQ(index.size(), listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (!found[i]) std::cerr << listed[i] << "\n";
    CHECK(found[i]);
  }
  CHECK_EQ(skipped(index), "1 ELF core; 1 FIFO; 2 converted file; 2 name of no known kind; ");
}

void test_a_file_that_was_named_is_listed() {
  const TemporaryDirectory directory;
  for (const char* name : {"notes.txt", "mapping.csv", "a.output.0.bin"}) {
    const Index index = open_index({directory.write(name, "")});
    CHECK_EQ(index.size(), 1U);
    CHECK_EQ(skipped(index), "");
    CHECK_EQ(index.shown_path(0), name);
  }
  bool thrown = false;
  try {
    open_index({directory.path() / "absent"});
  } catch (const SystemError&) {
    thrown = true;
  }
  CHECK(thrown);
}

void test_order_is_that_of_execution() {
  const TemporaryDirectory directory;
  for (const char* name : {
           "worldsize2_global_rank1/20240101000000/1/m/1/0/Add.a.1.2.1700000000000000",
           "worldsize2_global_rank0/20240101000000/0/m/1/10/Add.a.1.2.1700000000000009",
           "worldsize2_global_rank0/20240101000000/0/m/1/9/Add.b.1.2.1700000000000002",
           "worldsize2_global_rank0/20240101000000/0/m/1/9/Mul.a.2.1.1700000000000003",
           "worldsize2_global_rank0/20240101000000/0/m/1/9/Add.c.3.1.1700000000000003",
           "worldsize2_global_rank0/20240101000000/0/m/1/9/Zzz.c.1.1.1700000000000003",
           "worldsize2_global_rank0/20240101000000/0/m/1/9/9134657216587341217",
       }) {
    directory.write(name, "");
  }
  const Index index = open_index({directory.path()});
  std::string order;
  for (const std::uint32_t position : all(index)) {
    const FileName name = index.name(position);
    order += std::to_string(*index.where(position).rank) + name.op_type + name.op_name + " ";
  }
  CHECK_EQ(order, "0Addb 0Zzzc 0Mula 0Addc 0 0Adda 1Adda ");
}

void test_selection() {
  const TemporaryDirectory directory;
  directory.write("20240101000000/0/m.1/4/7/MatMul.layers_1_q.1.2.1700000000000000", "");
  directory.write("20240101000000/1/m.2/5/8/MatMulV2.layers_2_q.1.2.1700000000000000", "");
  directory.write("20240102000000/1/m.2/5/8/Add.layers_2_q.1.2.1700000000000000.4.11.0.6", "");
  directory.write("rank_3/Add.tail.1.2.1700000000000000.4.11.0.6", "");
  directory.write("rank_3/exception_info.2.1.1700000000000009", "");
  directory.write("tables/statistic.csv", "");  // of many operators
  const Index index = open_index({directory.path()});
  // How many names decide, and how many only headers, or rows, can.
  const auto count = [&](const Selection& selection) {
    const Index::Selected selected = index.select(all(index), selection);
    return selected.positions.size() - selected.undecided.size();
  };
  const auto by = [&](auto member, auto values) {
    Selection selection;
    selection.*member = values;
    return count(selection);
  };
  const auto undecided = [&](auto member, auto values) {
    Selection selection;
    selection.*member = values;
    return index.select(all(index), selection).undecided.size();
  };
  struct Numbers : NumberRanges {
    Numbers(std::initializer_list<std::int64_t> numbers) {
      for (const std::int64_t number : numbers) push_back({number, number});
    }
  };
  using Texts = std::vector<std::string>;
  CHECK_EQ(count({}), 6U);
  CHECK_EQ(by(&Selection::rank, Numbers{3}), 2U);
  CHECK_EQ(by(&Selection::rank, Numbers{0}), 0U);
  CHECK_EQ(by(&Selection::step, Numbers{7, 9}), 1U);
  CHECK_EQ(by(&Selection::model_id, Numbers{5}), 2U);
  CHECK_EQ(by(&Selection::time, Texts{"20240102*"}), 1U);
  CHECK_EQ(by(&Selection::model, Texts{"m.*"}), 3U);
  CHECK_EQ(by(&Selection::model, Texts{"m.2"}), 2U);
  // The directory tells the device of the first three, the name that of one more.
  CHECK_EQ(by(&Selection::device, Numbers{1}), 2U);
  CHECK_EQ(by(&Selection::device, Numbers{6}), 1U);
  CHECK_EQ(by(&Selection::op_type, Texts{"MatMul*"}), 2U);
  CHECK_EQ(by(&Selection::op_type, Texts{"MatMul", "Add"}), 3U);
  CHECK_EQ(by(&Selection::op_name, Texts{"layers_?_q"}), 3U);
  CHECK_EQ(by(&Selection::op_name, Texts{"layers.2/q"}), 2U);
  CHECK_EQ(by(&Selection::op_name, Texts{"layers 1*"}), 1U);
  CHECK_EQ(by(&Selection::op_name, Texts{"layers"}), 0U);
  CHECK_EQ(by(&Selection::step, NumberRanges{{0, 7}, {9, 9}}), 1U);
  // What no directory and no name tells meets no condition.
  CHECK_EQ(by(&Selection::time, Texts{"*"}), 3U);
  CHECK_EQ(by(&Selection::op_type, Texts{"*"}), 4U);
  // The header of the exception dump may have a name, the rows of the table have types and names.
  CHECK_EQ(undecided(&Selection::op_name, Texts{"nothing"}), 2U);
  CHECK_EQ(undecided(&Selection::op_type, Texts{"Nothing"}), 1U);
  CHECK_EQ(undecided(&Selection::rank, Numbers{3}), 0U);
  CHECK_EQ(undecided(&Selection::io, std::vector{Io::input}), 6U);
  CHECK_EQ(undecided(&Selection::dtype, Texts{"float16"}), 6U);
  CHECK_EQ(undecided(&Selection::index, Numbers{0}), 6U);
  CHECK_EQ(undecided(&Selection::status, std::vector{Status::ok}), 6U);
  Selection both;
  both.step = Numbers{8};
  both.op_type = {"Add"};
  CHECK_EQ(count(both), 1U);
  // Of some positions, in their order.
  const Index::Positions some = {4, 3, 2};
  CHECK(index.select(some, {}).positions == some);
  both.op_type.clear();
  CHECK((index.select(some, both).positions == Index::Positions{4, 3}));
  CHECK(index.select({}, {}).positions.empty());
  CHECK_EQ(paths(index, index.find(all(index), "layers.1/q")),
           "20240101000000/0/m.1/4/7/MatMul.layers_1_q.1.2.1700000000000000 ");
  CHECK_EQ(index.find(all(index), "layers_2_q").size(), 2U);
  CHECK(index.find(all(index), "layers").empty());
  CHECK(index.find(all(index), "").empty());
  CHECK_EQ(index.op_names(all(index)).size(), 3U);
}

void test_summary() {
  const TemporaryDirectory directory;
  directory.write("20240101000000/0/m/4/7/Add.a.1.2.1700000000000005", "");
  directory.write("20240101000000/0/m/4/8/Add.a.1.2.1700000000000002", "");
  directory.write("20240101000000/0/m/4/8/Mul.a.1.2.20240101120000123", "");
  directory.write("rank_3/Add.tail.1.2.1700000000000.4.11.0.6", "");
  directory.write("rank_3/9134657216587341217", "");
  const Index index = open_index({directory.path()});
  const IndexSummary summary = index.summary(all(index));
  CHECK_EQ(summary.n_operators, 3U);
  CHECK(summary.ranks == std::set<std::int64_t>{3});
  CHECK(summary.times == std::set<std::string>{"20240101000000"});
  CHECK((summary.devices == std::set<std::int64_t>{0, 6}));
  CHECK(summary.models == std::set<std::string>{"m"});
  CHECK((summary.steps == std::set<std::int64_t>{7, 8}));
  CHECK_EQ(summary.op_types.at("Add"), 3U);
  CHECK_EQ(summary.op_types.size(), 2U);
  CHECK_EQ(summary.kinds.at("digits"), 1U);
  CHECK_EQ(summary.kinds.at("operator"), 4U);
  CHECK(summary.first_timestamp == 1700000000000002);
  CHECK(summary.last_timestamp == 1700000000000005);
  Selection date;
  date.op_type = {"Mul"};
  const Index::Positions dated = index.select(all(index), date).positions;
  CHECK(index.summary(dated).first_timestamp == 20240101120000123);
  CHECK(!index.summary({}).first_timestamp);
}

void test_names_from_mapping_csv() {
  const TemporaryDirectory directory;
  directory.write("mapping.csv",
                  "1111111111,Add.long.1.2.1700000000000000\n"
                  "2222222222,Add.long.1.2.1700000000000000.csv\n"
                  "3333333333,../../etc/passwd\n4444444444,mapping.csv\n5555555555,..\n");
  for (const char* name :
       {"1111111111", "2222222222", "3333333333", "4444444444", "5555555555", "6666666666"}) {
    directory.write(name, "");
  }
  const Index index = open_index({directory.path()});
  std::string found;
  for (const std::uint32_t position : all(index)) {
    std::string buffer;
    const std::string path = index.path(position, buffer);
    CHECK_EQ(path, (directory.path() / index.shown_path(position)).string());
    found += index.shown_path(position).substr(0, 1) + ":" +
             std::string(to_string(index.name(position).kind)) + " ";
  }
  CHECK_EQ(found, "1:operator 2:statistics 3:digits 4:digits 5:digits 6:digits ");
  CHECK_EQ(index.nameless(all(index)).size(), 4U);
  CHECK_EQ(paths(index, index.find(all(index), "long")), "1111111111 2222222222 ");
  CHECK_EQ(skipped(index), "");
}

void test_names_that_are_no_text() {
  const TemporaryDirectory directory;
  const std::string name = "Add.a\xff\x1b[31m\n.1.2.1700000000000000";
  directory.write(name, "");
  const Index index = open_index({directory.path()});
  CHECK_EQ(index.shown_path(0), name);
  CHECK_EQ(index.find(all(index), "a\xff\x1b[31m\n").size(), 1U);
  Selection selection;
  selection.op_name = {"a*"};
  CHECK_EQ(index.select(all(index), selection).positions.size(), 1U);
}

void test_stop() {
  const TemporaryDirectory directory;
  directory.write("Add.a.1.2.1700000000000000", "");
  const std::atomic<bool> stop = true;
  CHECK_EQ(Index({directory.path()}, {}, stop).size(), 0U);
}

// The scan of some files of an index reads these and no others.
void test_scan_of_positions() {
  const TemporaryDirectory directory;
  for (int i = 0; i < 3; ++i) {
    directory.write("7/Add.a" + std::to_string(i) + ".1.2.170000000000000" + std::to_string(i),
                    std::string(8, '\0'));
  }
  const Index index = open_index({directory.path()});
  const Index::Positions positions = {2, 0};
  ScanOptions options;
  options.parallelism = {2, 2};
  Scan scan(index.tree(positions), options);
  scan.start();
  while (!scan.wait_for(std::chrono::milliseconds(100))) {
  }
  CHECK_EQ(make_table(scan).n_rows, 2);
  CHECK_EQ(scan.progress().files_found, 2U);
  CHECK_EQ(scan.tree().shown_path(0), "7/Add.a2.1.2.1700000000000002");
  CHECK_EQ(scan.tree().shown_path(1), "7/Add.a0.1.2.1700000000000000");
}

void test_patterns_for_file_names() {
  CHECK_EQ(as_in_file_name("a b.c/d\\e_f-g"), "a_b_c_d_e_f-g");
  CHECK_EQ(pattern_as_in_file_name("layers.*/Add [ab]?"), "layers_*_Add_[ab]?");
  CHECK_EQ(pattern_as_in_file_name("a\\*b\\[c\\\\d\\e\\"), "a\\*b\\[c_d_e_");
  CHECK(matches_any({"x", "a?c*"}, "abcd"));
  CHECK(!matches_any({"x", "a?c"}, "abcd"));
  CHECK(!matches_any({}, ""));
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_lists_names_of_dumps();
  test_a_file_that_was_named_is_listed();
  test_order_is_that_of_execution();
  test_selection();
  test_summary();
  test_names_from_mapping_csv();
  test_names_that_are_no_text();
  test_stop();
  test_scan_of_positions();
  test_patterns_for_file_names();
  return tests::exit_code();
}
