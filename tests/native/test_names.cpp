// File names, directories and mapping.csv: what they tell and, above all, when they tell nothing.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "check.hpp"
#include "core/decimal.hpp"
#include "core/formats/file_name.hpp"
#include "core/formats/mapping_csv.hpp"
#include "core/formats/tree_path.hpp"

namespace fastdump {
namespace {

std::string text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

// type|name|task|stream|timestamp|context|thread|device
std::string fields(const FileName& file) {
  return file.op_type + "|" + file.op_name + "|" + text(file.task_id) + "|" + text(file.stream_id) +
         "|" + text(file.timestamp) + "|" + text(file.context_id) + "|" + text(file.thread_id) +
         "|" + text(file.device);
}

void check_name(NameKind kind, std::string_view expected, std::string_view name) {
  const FileName file = parse_file_name(name);
  if (file.kind != kind || fields(file) != expected) std::cerr << "in " << name << "\n";
  CHECK_EQ(static_cast<int>(file.kind), static_cast<int>(kind));
  CHECK_EQ(fields(file), expected);
}

void check_unknown(std::string_view name) { check_name(NameKind::unknown, "||-|-|-|-|-|-", name); }

void test_standard_names() {
  const auto standard = NameKind::standard;
  check_name(standard, "Add|full|1|7|1700000000000000|-|-|-", "Add.full.1.7.1700000000000000");
  check_name(standard, "Pooling|pool1|1147|-|1589195081588018|-|-|-",
             "Pooling.pool1.1147.1589195081588018");
  check_name(standard, "Add|ffts_op|1|7|1700000000000000|11|2|5",
             "Add.ffts_op.1.7.1700000000000000.4.11.2.5");
  check_name(standard, "Add|ffts_op|1|-|1700000000000000|11|2|5",
             "Add.ffts_op.1.1700000000000000.4.11.2.5");
  check_name(standard, "aclnnBatchMatMul_0_L2|aclnnBatchMatMul|65535|65535|1725960383079645|-|-|-",
             "aclnnBatchMatMul_0_L2.aclnnBatchMatMul.65535.65535.1725960383079645");
  check_name(standard, "Add|x|3|-|20240101120000123|-|-|-", "Add.x.3.20240101120000123");
  check_name(standard, "Add|x|3|4|1700000000000|-|-|-", "Add.x.3.4.1700000000000");
  check_name(standard, "9|8|7|6|1700000000000000|-|-|-", "9.8.7.6.1700000000000000");

  check_unknown("");
  check_unknown(".");
  check_unknown("Add");
  check_unknown("Add.full");
  check_unknown("Add.full.1700000000000000");             // no task
  check_unknown("Add.full.1.7.170000000000");             // 12 digits are no timestamp
  check_unknown("Add.full.1.7.170000000000000000");       // 18 neither
  check_unknown("Add.full.1.7.1700000000000000.4.11.2");  // three of four parts
  check_unknown("Add.full.1.7.1700000000000000.4.11.2.x");
  check_unknown("Add.full.1.7.1700000000000000.x.11.2.3");
  check_unknown("Add.full.1.7.1700000000000000.4.11.2.3.4");
  check_unknown("Add.full.1.7.9.1700000000000000");
  check_unknown("Add.full.1.7.8.9.1700000000000000");
  check_unknown("Add.full.x.7.1700000000000000");
  check_unknown("Add.full.1.-7.1700000000000000");
  check_unknown("Add.full.1. 7.1700000000000000");
  check_unknown("Add.full.1.+7.1700000000000000");
  check_unknown(".full.1.7.1700000000000000");
  check_unknown("Add..1.7.1700000000000000");
  check_unknown("Add.full.1..1700000000000000");
  check_unknown("Add.a.b.1.7.1700000000000000");  // writers replace dots in names
  check_unknown("Add.full.9223372036854775808.7.1700000000000000");
  check_unknown("Add.full.1.7.1700000000000000.o");
  check_unknown("Add.full.1.7.1700000000000000.npy");
}

void test_other_dump_names() {
  check_name(NameKind::op_debug, "Opdebug|Node_OpDebug|59|-|1597922031178434|-|-|-",
             "Opdebug.Node_OpDebug.59.1597922031178434");
  check_name(NameKind::op_debug, "OpDebug|Node_Opdebug|1|7|1700000000000000|-|-|-",
             "OpDebug.Node_Opdebug.1.7.1700000000000000");
  check_name(NameKind::op_debug, "OP_DEBUG|NODE_OP_DEBUG|1|7|1700000000000000|1|2|3",
             "OP_DEBUG.NODE_OP_DEBUG.1.7.1700000000000000.4.1.2.3");
  check_name(NameKind::standard, "Opdebug|Node_OpDebug2|1|7|1700000000000000|-|-|-",
             "Opdebug.Node_OpDebug2.1.7.1700000000000000");

  // Also fits the standard pattern, with stream and task the other way round.
  check_name(NameKind::exception, "||1|5|1706152473105513|-|-|-",
             "exception_info.5.1.1706152473105513");
  check_name(NameKind::exception, "||12|3|20240101120000123|-|-|-",
             "exception_info.3.12.20240101120000123");
  check_unknown("exception_info.5.1.x");

  check_name(NameKind::custom, "|my.tensor|-|-|20240101120000123|-|-|-",
             "my.tensor.custom.20240101120000123");
  check_unknown(".custom.20240101120000123");
  check_unknown("x.custom.1700000000000000");

  check_name(NameKind::core, "||12|3|20240101120000123|-|-|-",
             "te_add.1.kernel.3.12.20240101120000123.core");
  check_unknown("te_add.3.12.1700000000000000.core");
  check_unknown("core");

  check_name(NameKind::digits, "||-|-|-|-|-|-", "9134657216587341217");
  check_name(NameKind::digits, "||-|-|-|-|-|-", "0123456789");
  check_name(NameKind::digits, "||-|-|-|-|-|-", std::string(32, '9'));
  check_unknown("123456789");
  check_unknown(std::string(33, '9'));

  CHECK(parse_file_name("Add.full.1.7.1700000000000000").is_dump());
  CHECK(parse_file_name("9134657216587341217").is_dump());
  CHECK(parse_file_name("Add.full.1.7.1700000000000000.csv").is_dump());
  CHECK(parse_file_name("Add.full.1.7.1700000000000000.output.0.npy").is_dump());
  CHECK(!parse_file_name("Add.full.1.7.1700000000000000.output.0.bin").is_dump());
  CHECK(!parse_file_name("table.csv").is_dump());
  CHECK(!parse_file_name("notes.txt").is_dump());
}

void test_names_of_other_files() {
  const auto statistics = NameKind::statistics;
  const auto converted = NameKind::converted;
  const std::string_view nothing = "||-|-|-|-|-|-";
  check_name(NameKind::mapping, nothing, "mapping.csv");
  check_name(statistics, nothing, "statistic.csv");
  check_name(statistics, nothing, "9134657216587341217.csv");
  check_name(statistics, nothing, "Mapping.csv");
  check_name(statistics, "Add|full|1|7|1700000000000000|-|-|-",
             "Add.full.1.7.1700000000000000.csv");

  check_name(statistics, "||1|5|1706152473105513|-|-|-", "exception_info.5.1.1706152473105513.csv");
  check_unknown("input.0.npy");
  check_unknown(".input.0.npy");
  check_unknown("x.input.npy");
  check_unknown("x.input.a.npy");
  check_unknown("x.input.0.txt");
  check_unknown("weights.npy");
  check_unknown("123.npy");
  check_unknown("kernel.o");
  check_unknown("kernel_host.json");
  check_name(converted, nothing, "9134657216587341217.npy");
  check_name(converted, nothing, "9134657216587341217.bin");
  check_unknown("x.input.99999999999999999999.npy");
  check_unknown("x.Input.0.npy");
  check_unknown("x.l1buffer.0");
}

// io|index and the other fields, of a converted file
void check_converted(std::string_view expected, std::string_view name) {
  const FileName file = parse_file_name(name);
  const std::string io = file.io ? std::string(to_string(*file.io)) : "-";
  check_name(name.ends_with(".npy") ? NameKind::npy : NameKind::converted,
             expected.substr(expected.find(' ') + 1), name);
  CHECK_EQ(io + "|" + text(file.index), expected.substr(0, expected.find(' ')));
}

void test_converted_names() {
  const std::string add = "Add|full|1|7|1700000000000000|-|-|-";
  check_converted("output|0 " + add, "Add.full.1.7.1700000000000000.output.0.npy");
  check_converted("input|12 " + add, "Add.full.1.7.1700000000000000.input.12.2x3.npy");
  check_converted("output|0 " + add,
                  "Add.full.1.7.1700000000000000.output.0.120.float32.NC1HWC0.bin");
  check_converted("space|3 " + add, "Add.full.1.7.1700000000000000.space.3.bin");
  check_converted("buffer|1 " + add, "Add.full.1.7.1700000000000000.l1buffer.1.bin");
  check_converted("output|0 " + add, "Add.full.1.7.1700000000000000.output.0.pt");
  check_converted("output|0 " + add, "Add.full.1.7.1700000000000000.output.0.json");
  check_converted("output|2 Add|ffts|1|7|1700000000000000|11|2|5",
                  "Add.ffts.1.7.1700000000000000.4.11.2.5.output.2.npy");
  // MindSpore, msprobe
  check_converted("input|1 Add|Default_Add-op0|0|0|1734008383669918|-|-|-",
                  "Add.Default_Add-op0.0.0.1734008383669918.input.1.DefaultFormat.float32.npy");
  // Exception dumps: stream before task, no operator.
  check_converted("input|4 ||1|5|1706152473105513|-|-|-",
                  "exception_info.5.1.1706152473105513.input.4.npy");
  check_converted("input|0 |my.tensor|-|-|20240101120000123|-|-|-",
                  "my.tensor.custom.20240101120000123.input.0.npy");
  check_converted("input|1 |a.output.0|-|-|20240101120000123|-|-|-",
                  "a.output.0.custom.20240101120000123.input.1.npy");
  // FX graphs, run node by node; an argument may be a list.
  check_converted("input|0 aten.add.Tensor|add_1|-|-|20240101120000123|-|-|-",
                  "add_1-aten.add.Tensor.INPUT.0.20240101120000123456.npy");
  check_converted("input|0 aten.cat.default|cat|-|-|20240101120000123|-|-|-",
                  "cat-aten.cat.default.INPUT.0.3.20240101120000123456.npy");
  check_converted("output|1 aten.topk.default|topk|-|-|20240101120000999|-|-|-",
                  "topk-aten.topk.default.OUTPUT.1.20240101120000999999.npy");
  const std::string nothing = "||-|-|-|-|-|-";
  check_converted("output|0 " + nothing, "a-b.OUTPUT.0.2024010112000012345.npy");  // 19 digits
  check_converted("output|0 " + nothing, "a-b.OUTPUT.0.npy");
  check_converted("output|0 " + nothing, "ab.OUTPUT.0.20240101120000123456.npy");
  check_converted("output|0 " + nothing, "9134657216587341217.output.0.npy");
  check_converted("input|0 " + nothing, "a.input.b.input.0.npy");
  check_converted("input|1 " + nothing, ".input.0.input.1.npy");
  check_converted("input|0 " + nothing, "a.input.0.output.1.npy");
  CHECK(!parse_file_name("9134657216587341217.npy").io);
  CHECK(!parse_file_name("Add.full.1.7.1700000000000000").io);
  CHECK(!parse_file_name("Add.full.1.7.1700000000000000.csv").index);
}

// rank|time|device|model|model_id|step
std::string fields(const Where& where) {
  return text(where.rank) + "|" + where.time + "|" + text(where.device) + "|" + where.model + "|" +
         text(where.model_id) + "|" + text(where.step);
}

void check_path(std::string_view expected, std::string_view above, std::string_view below) {
  const std::string found = fields(parse_tree_path(above, below));
  if (found != expected) std::cerr << "in " << above << " : " << below << "\n";
  CHECK_EQ(found, expected);
}

// Wherever the scan begins, the same directories tell the same.
void check_every_root(std::string_view expected, std::string_view path) {
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i == path.size() || path[i] == '/') {
      check_path(expected, path.substr(0, i), path.substr(i));
    }
  }
}

void test_documented_layouts() {
  check_every_root("-|20240101120000|2|resnet50|1|7", "/data/20240101120000/2/resnet50/1/7");
  check_every_root("-|20240101120000|2||-|-", "/data/20240101120000/2");
  check_every_root("3|20240101120000|2|graph_1|11|0",
                   "/data/worldsize8_global_rank3/20240101120000/2/graph_1/11/0");
  check_every_root("0|2024112145738|0|graph_1|1|0",
                   "/data/worldsize1_global_rank0/2024112145738/0/graph_1/1/0");
  check_every_root("3||-|graph_1|-|12", "/data/worldsize8_global_rank3/graph_1/12");
  check_every_root("-||3||-|-", "/data/extra-info/data-dump/3");
  check_every_root("-||3||-|-", "/data/asys/dfx/data-dump/3");
  check_every_root("1||-|Net|0|5", "/data/rank_1/Net/0/5");
  check_every_root("1|20240101120005|4|m|1|3",
                   "/data/rank_1/20240101120000/step_3/20240101120005/4/m/1/9");
  check_every_root("1|20240101120000|-||-|3", "/data/rank1/20240101120000/step3");

  // MindSpore through acl: the step is above the time, but only if it was scanned too.
  check_path("-|20240101120000|2|m|1|6", "/data", "6/20240101120000/2/m/1/9");
  check_path("-|20240101120000|2|m|1|9", "/data/6", "20240101120000/2/m/1/9");
  check_path("-|20240101120000|2|m|1|9", "/data/6/20240101120000", "2/m/1/9");
}

void test_missing_directories() {
  const std::string time = "/data/20240101120000/2";
  check_path("-|20240101120000|2|m|1|-", time, "m/1");
  check_path("-|20240101120000|2||1|4", time, "1/4");
  check_path("-|20240101120000|2||-|4", time, "4");
  check_path("-|20240101120000|2|m|-|-", time, "m");
  check_path("-|20240101120000|2|50|1|4", time, "50/1/4");  // a model may be named by a number
  check_path("-|20240101120000|2|m|1|4", time, "./m//1/4/");
  check_path("-|20240101120000|-||-|-", "/data/20240101120000", "");
}

void test_directories_not_understood() {
  check_path("-||-||-|-", "", "");
  check_path("-||-||-|-", "/", "");
  check_path("-||-||-|-", "/home/me/dumps", "run 1/3");
  check_path("-||-||-|-", "/data/20240101", "2/m/1/0");        // a date is no time
  check_path("-||-||-|-", "/data/17000000000000", "2/m/1/0");  // nor is any number
  check_path("-||-||-|-", "/data/rank_/step_x", "rank/steps_1/rank_1x/worldsize_global_rank3");
  check_path("-||-||-|-", "/data", "rank_99999999999999999999");
  check_path("-||-||-|-", "/data", "data-dump/3");
  check_path("-||-||-|-", "/data", "extra-info/data-dump/x");
  check_path("-||-||-|-", "/data", "extra-info/other/3");
  check_path("-|20240101120000|-||-|-", "/data/20240101120000", "notes/1/2");
  check_path("-|20240101120000|2||-|-", "/data/20240101120000/2", "m/1/2/3");
  check_path("-|20240101120000|2||-|-", "/data/20240101120000/2", "m/x/2");
  check_path("-|20240101120000|2||-|-", "/data/20240101120000/2", "m/n");
  check_path("-|20240101120000|2||-|-", "/data/20240101120000/2", "1/n");
  check_path("-|20240101120000|2||-|3", "/data/20240101120000/2", "step_3");
  check_path("1||-||-|-", "/data/rank_1", "net/0");
  check_path("1||-||-|-", "/data/rank_1", "net/0/x");
  check_path("1||-||-|4", "/data/rank_1", "step_4/0/5");
  check_path("3||-||-|-", "/data/worldsize8_global_rank3", "graph_1");
  check_path("3||-||-|-", "/data/worldsize8_global_rank3", "graph_x/12");
  check_path("3||-||-|-", "/data/worldsize8_global_rank3", "graph_1/x");
  check_path("3||-||-|-", "/data/worldsize8_global_rank3", "graph_1/12/0");
  check_path("3|20240101120000|-|graph_1|-|12", "/20240101120000/worldsize8_global_rank3",
             "graph_1/12");
  // An archive's own time above a tree without one.
  check_path("1|20240101120000|-|Net|0|5", "/archive/20240101120000", "rank_1/Net/0/5");
  // A time above another is no step.
  check_path("-|20240101120000|2|m|1|0", "/data", "20231231120000/20240101120000/2/m/1/0");
}

void test_mapping_csv() {
  const auto names = parse_mapping_csv(
      "123,Add.a.1.7.1700000000000000\n"
      "124,/dump/0/Add.b.1.7.1700000000000000\r\n"
      "\n\r\n,\nno comma\n12x,Add.c\n,Add.d\n125,\n126,/dump/\n"
      "127,Add.old\n127,Add.new\n"
      "128,Add.a,b.1\n"
      "130,\"Add.c,d.1\"\n"
      "131,\"/dump/Add.\"\"e\"\"\"\r\n"
      "132,\"not \"closed\"\n133,\"\n134,\"\"\n135,\"odd\"\"\n"
      "129,last");
  CHECK_EQ(names.size(), 10U);
  CHECK_EQ(names.at("130"), "Add.c,d.1");
  CHECK_EQ(names.at("131"), "Add.\"e\"");
  CHECK_EQ(names.at("132"), "\"not \"closed\"");
  CHECK_EQ(names.at("133"), "\"");
  CHECK_EQ(names.at("135"), "\"odd\"\"");
  CHECK_EQ(names.at("123"), "Add.a.1.7.1700000000000000");
  CHECK_EQ(names.at("124"), "Add.b.1.7.1700000000000000");
  CHECK_EQ(names.at("127"), "Add.new");
  CHECK_EQ(names.at("128"), "Add.a,b.1");
  CHECK_EQ(names.at("129"), "last");
  CHECK(parse_mapping_csv("").empty());
  CHECK(parse_mapping_csv("\n").empty());
}

void test_decimal_numbers() {
  CHECK(parse_decimal("9223372036854775807") == INT64_MAX);
  CHECK(!parse_decimal("9223372036854775808"));
  CHECK(parse_decimal("007") == 7);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "1.0"}) {
    CHECK(!parse_decimal(text));
  }
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_decimal_numbers();
  test_standard_names();
  test_other_dump_names();
  test_names_of_other_files();
  test_converted_names();
  test_documented_layouts();
  test_missing_directories();
  test_directories_not_understood();
  test_mapping_csv();
  return tests::exit_code();
}
