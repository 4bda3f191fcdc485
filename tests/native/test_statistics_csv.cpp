// Statistics that the vendor's software wrote as CSV: every header, every habit and bug of its
// writers, damage of every kind, and how a table is cut into executions of operators.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/formats/file_name.hpp"
#include "core/formats/statistics_cell.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/scan/reported_rows.hpp"

namespace fastdump {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr double kInf = std::numeric_limits<double>::infinity();

const std::string kDefault =
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
    "Nan Count,Negative Inf Count,Positive Inf Count\n";
const std::string kDescription = "Input/Output,Index,Data Size,Data Type,Format,Shape,";
const std::string kMindSpore =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,";

// Memory that ends where the text ends, so that a sanitizer sees any look beyond it.
class Text {
 public:
  explicit Text(std::string_view text)
      : size_(text.size()), chars_(std::make_unique<char[]>(size_)) {
    text.copy(chars_.get(), size_);
  }
  std::string_view view() const { return {chars_.get(), size_}; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(view())); }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> chars_;
};

// What a text that is no table is refused with is an error here.
StatisticsCsv open(const Text& text) {
  auto read = StatisticsCsv::open(text.view());
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    throw FormatError(refusal->what, refusal->offset);
  }
  return std::get<StatisticsCsv>(std::move(read));
}

// All that a table says.
struct ReadCsv {
  std::vector<ReportedTensor> tensors;
  Status status = Status::ok;
  Note problem;
};

ReadCsv parse(std::string_view bytes) {
  const Text text(bytes);
  StatisticsCsv csv = open(text);
  ReadCsv read;
  for (ReportedTensor tensor; csv.next(tensor);) read.tensors.push_back(std::move(tensor));
  read.status = csv.lost().status;
  read.problem = csv.lost().problem;
  return read;
}

std::vector<FileRows> reported_rows(std::size_t file, const FileName& name,
                                    const Selection& selection, std::string_view bytes) {
  const Text text(bytes);
  ReportedRows reported(file, std::nullopt, name, selection, open(text));
  std::vector<FileRows> all;
  for (FileRows rows; reported.next(rows);) all.push_back(std::move(rows));
  FileRows none;
  CHECK(!reported.next(none));
  return all;
}

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), *value).ptr};
}

template <class Integer>
std::string number(const std::optional<Integer>& value) {
  return value ? std::to_string(*value) : "-";
}

// io.index dtype format shape nbytes
std::string described(const ReportedTensor& row) {
  const TensorDescription& tensor = row.tensor;
  std::string shape = row.has_shape ? "(" : "-";
  for (const std::int64_t dim : tensor.shape) shape += std::to_string(dim) + ",";
  if (row.has_shape) shape += ")";
  return std::string(to_string(tensor.io)) + "." + std::to_string(tensor.index) + " " +
         (tensor.dtype == nullptr ? "-" : std::string(tensor.dtype->name)) + " " +
         std::to_string(tensor.format) + " " + shape + " " +
         (row.has_nbytes ? std::to_string(tensor.nbytes) : "-");
}

// count max min mean l2norm nan +inf -inf zero
std::string computed(const ReportedTensor& row) {
  const ReportedStatistics& s = row.statistics;
  std::string text = number(s.count);
  for (const auto& moment : {s.max, s.min, s.mean, s.l2norm})
    text.append(" ").append(number(moment));
  for (const auto& count : {s.nan, s.pos_inf, s.neg_inf, s.zero}) {
    text.append(" ").append(number(count));
  }
  return text;
}

std::string judged(const ReportedTensor& row) {
  return std::string(to_string(row.tensor.status)) +
         (row.tensor.note.empty() ? "" : ": " + row.tensor.note.text());
}

std::string all_of(const ReportedTensor& row) {
  return described(row) + " | " + computed(row) + " | " + judged(row);
}

const ReportedTensor& only(const ReadCsv& csv) {
  CHECK_EQ(csv.tensors.size(), 1U);
  CHECK_EQ(csv.problem.text(), "");
  static const ReportedTensor kNone;
  return csv.tensors.empty() ? kNone : csv.tensors.front();
}

// A table of this header with this one line, which is a row.
std::string row_of(const std::string& header, const std::string& line) {
  return all_of(only(parse(header + line + "\n")));
}

std::string op_of(const ReportedTensor& row) {
  if (row.op == nullptr) return "-";
  return row.op->op_type + "|" + row.op->op_name + "|" + number(row.op->task_id) + "|" +
         number(row.op->stream_id) + "|" + number(row.op->timestamp);
}

// What the writers' own unit tests expect, with the values typed by hand.
void test_default_statistics() {
  CHECK_EQ(row_of(kDefault,
                  "Output,0,640000,DT_FLOAT,NHWC,4x50x50x16,1.99999,1,1.50004,160000,0,"
                  "0,0"),
           "output.0 float32 1 (4,50,50,16,) 640000 | 160000 1.99999 1 1.50004 - 0 0 0 - | ok");
  CHECK_EQ(row_of(kDefault,
                  "Input,0,268435456,DT_INT64,ND,100x20x40,100,200,10.1,80000,400,500,"
                  "600"),
           "input.0 int64 2 (100,20,40,) 268435456 | 80000 100 200 10.1 - 400 600 500 - | ok");
  CHECK_EQ(row_of(kDefault,
                  "Input,0,268435456,DT_BF16,ND,100x20x40,1.4013e-43,2.8026e-43,10.1,"
                  "80000,400,500,600"),
           "input.0 bfloat16 2 (100,20,40,) 268435456 | "
           "80000 1.4013e-43 2.8026e-43 10.1 - 400 600 500 - | ok");
  CHECK_EQ(row_of(kDefault,
                  "Input,0,268435456,DT_FLOAT,UNKNOW,100x20x40,12.34,56.7897,10.1,80000,"
                  "400,500,600"),
           "input.0 float32 -1 (100,20,40,) 268435456 | "
           "80000 12.34 56.7897 10.1 - 400 600 500 - | ok");
  // The kernel does not know the type: the count is told all the same.
  CHECK_EQ(row_of(kDefault, "Input,0,268435456,DT_INT32,ALL,100x20x40,NA,NA,NA,80000,NA,NA,NA"),
           "input.0 int32 41 (100,20,40,) 268435456 | 80000 - - - - - - - - | "
           "unsupported: the device reports no statistics of it");
  // AICPU: seven empty fields, and types beyond its table are "-".
  CHECK_EQ(row_of(kDefault, "Output,1,64,-,-,-,,,,,,,"),
           "output.1 - -1 - 64 | - - - - - - - - - | "
           "unsupported: the device reports no statistics of it");
  // Damage is worse than what was not computed.
  CHECK_EQ(row_of(kDefault, "Output,1,64,-,-,3x,,,,,,,"),
           "output.1 - -1 - 64 | - - - - - - - - - | malformed: shape cannot be \"3x\"; "
           "the device reports no statistics of it");
  // The newer thread writer leaves the shape of a scalar empty.
  CHECK_EQ(row_of(kDefault, "Input,0,4,DT_FLOAT,ND,,3,-2,0.666667,3,0,0,0"),
           "input.0 float32 2 - 4 | 3 3 -2 0.666667 - 0 0 0 - | ok");
}

void test_values() {
  const auto moments = [](const std::string& max, const std::string& min) {
    const std::string row =
        row_of(kDefault, "Input,0,8,DT_FLOAT,ND,2," + max + "," + min + ",0,2,0,0,0");
    const std::size_t begin = row.find("| 2 ") + 4;
    return row.substr(begin, row.find(" 0 - 0 0 0 -") - begin) + row.substr(row.rfind(" | "));
  };
  CHECK_EQ(moments("inf", "-inf"), "inf -inf | ok");
  CHECK_EQ(moments("nan", "-nan"), "nan -nan | ok");
  CHECK_EQ(moments("1e+38", "-1.5E-45"), "1e+38 -1.5e-45 | ok");
  CHECK_EQ(moments("4.94066e-324", "-1.79769e+308"), "5e-324 -1.79769e+308 | ok");
  CHECK_EQ(moments(" 1 ", "\t0.5"), "1 0.5 | ok");
  CHECK_EQ(moments("NA", "-"), "- - | ok");
  CHECK_EQ(moments("null", ""), "- - | ok");
  // As MindSpore's fixed notation would be.
  CHECK_EQ(moments("340282346638528859811704183484516925440.000000", "-0"),
           "3.4028234663852886e+38 -0 | ok");

  CHECK_EQ(moments("9007199254740992", "-9007199254740992"),
           "9007199254740992 -9007199254740992 | ok");
  CHECK_EQ(moments("9223372036854775807", "-9007199254740993"),
           "9223372036854775808 -9007199254740992 | ok: max is exactly 9223372036854775807; "
           "min is exactly -9007199254740993");

  CHECK_EQ(moments("1.5.2", "1"), "- 1 | malformed: max cannot be \"1.5.2\"");
  CHECK_EQ(moments("0x10", "1e999"), "- - | malformed: max cannot be \"0x10\"");
  CHECK_EQ(moments("1", "1e999"), "1 - | malformed: min cannot be \"1e999\"");
  CHECK_EQ(moments("1", "+1"), "1 - | malformed: min cannot be \"+1\"");
  CHECK_EQ(moments("1", "1 2"), "1 - | malformed: min cannot be \"1 2\"");
  CHECK_EQ(moments("1", std::string(600, '1')),
           "1 - | malformed: min cannot be \"" + std::string(40, '1') + "...\"");
  CHECK_EQ(moments("1", "0." + std::string(600, '0')),
           "1 - | malformed: min cannot be \"0." + std::string(38, '0') + "...\"");
  CHECK_EQ(moments("1", "\x01\xff"), "1 - | malformed: min cannot be \"\\x01\\xff\"");
}

void test_counts() {
  const auto counts = [](const std::string& count, const std::string& nan) {
    return row_of(kDescription + "Count,Nan Count\n",
                  "Input,0,8,DT_FLOAT,ND,2x1," + count + "," + nan);
  };
  const std::string description = "input.0 float32 2 (2,1,) 8 | ";
  CHECK_EQ(counts("18446744073709551615", "7"),
           description + "18446744073709551615 - - - - 7 - - - | ok");
  CHECK_EQ(counts("18446744073709551616", "7"),
           description + "- - - - - 7 - - - | malformed: count cannot be \"18446744073709551616\"");
  CHECK_EQ(counts("2", "-1"), description + "2 - - - - - - - - | malformed: nan cannot be \"-1\"");
  CHECK_EQ(counts("2", "1.0"),
           description + "2 - - - - - - - - | malformed: nan cannot be \"1.0\"");
}

void test_descriptions() {
  const auto describe = [](const std::string& line) {
    const auto csv = parse(kDescription + "Count\n" + line + ",1\n");
    return described(only(csv)) + " | " + judged(only(csv));
  };
  CHECK_EQ(describe("input,4294967295,18446744073709551615,float16,FORMAT_NC1HWC0,7"),
           "input.4294967295 float16 3 (7,) 18446744073709551615 | ok");
  CHECK_EQ(describe("OUTPUT,1,0,DT_DOUBLE,c1hwncoc0,()"), "output.1 float64 25 () 0 | ok");
  CHECK_EQ(describe("Input,0,1,bfloat16,NULL,\"(2,3)\""), "input.0 bfloat16 42 (2,3,) 1 | ok");
  CHECK_EQ(describe("Input,0,1,DT_QINT8,MD,\"(2, 3,)\""), "input.0 int8 26 (2,3,) 1 | ok");
  CHECK_EQ(describe("Input,0,1,bool,ND,-1x0x18446744073709551615"),
           "input.0 bool 2 (-1,0,-1,) 1 | ok");
  CHECK_EQ(describe("Input,0,-,UNKNOW,UNKNOW,NA"), "input.0 - -1 - - | ok");
  CHECK_EQ(describe("Input,0,1,\"unsupported(43)\",NEW,2"),
           "input.0 - -1 (2,) 1 | ok: dtype \"unsupported(43)\" is not known; "
           "format \"NEW\" is not known");
  CHECK_EQ(describe("Input,0,-1,DT_FLOAT,ND,2"),
           "input.0 float32 2 (2,) - | malformed: nbytes cannot be \"-1\"");
  for (const std::string bad :
       {"2x", "x2", "2x-2", "2xx2", "2*3", "18446744073709551614", "(2", "2)", "2x3 4", "[2]"}) {
    CHECK_EQ(describe("Input,0,1,DT_FLOAT,ND," + bad),
             "input.0 float32 2 - 1 | malformed: shape cannot be \"" + bad + "\"");
  }
  std::string deep = "1";
  for (int i = 0; i < 63; ++i) deep += "x1";
  CHECK_EQ(parse_shape(deep)->size(), 64U);
  CHECK(!parse_shape(deep + "x1").has_value());
  for (const DataType& type : data_types()) {
    const DataType* const found = parse_data_type("DT_" + std::string(type.cann_name));
    CHECK(found == &type);
  }
}

// Columns are found by name: case and blanks do not matter, nor does the order.
void test_headers() {
  CHECK_EQ(row_of("shape,  NAN COUNT,foo,io, Slot ,DATA TYPE,l2norm value,zero count\n",
                  "2x3,1,bar,output,5,int8,2.5,4"),
           "output.5 int8 -1 (2,3,) - | - - - - 2.5 1 - - 4 | ok");
  CHECK_EQ(row_of("\xef\xbb\xbf\r\n\n" + kDescription + "Count\r\n",
                  "Input,0,8,DT_FLOAT,ND,2x1,2\r\n\r\n \t"),
           "input.0 float32 2 (2,1,) 8 | 2 - - - - - - - - | ok");
  // MindSpore's "zero counts" are of what is not zero, but for the last.
  CHECK_EQ(row_of("IO,Slot,Data Type,Negative Zero Count,Positive Zero Count,Zero Count,MD5,SHA1\n",
                  "input,0,int8,3,4,5,aa,bb"),
           "input.0 int8 -1 - - | - - - - - - - - 5 | ok");
  CHECK_EQ(row_of("IO,Slot,Data Type,MD5\n", "input,0,int8,aa"),
           "input.0 int8 -1 - - | - - - - - - - - - | ok");

  const auto refused = [](std::string_view text, std::string_view shown, std::uint64_t offset) {
    CHECK(!is_statistics_csv(Text(text).bytes()));
    try {
      parse(text);
      CHECK(false);
    } catch (const FormatError& error) {
      CHECK_EQ(std::string(error.what()),
               "the header at byte " + std::to_string(offset) + " is \"" + std::string(shown) +
                   "\", expected the columns of statistics: Input/Output or IO, Index or Slot, "
                   "Data Type");
      CHECK_EQ(error.offset(), offset);
    }
  };
  refused("", "", 0);
  refused(" \n\n", "", 2);
  refused("\n\na,b,c\n", "a,b,c", 2);
  refused("IO,Slot\n", "IO,Slot", 0);
  refused("Slot,Data Type\n", "Slot,Data Type", 0);
  refused("IO,Data Type\n", "IO,Data Type", 0);
  refused("IO,IO,Slot,Data Type\n", "IO,IO,Slot,Data Type", 0);
  refused("IO,Slot,Index,Data Type\n", "IO,Slot,Index,Data Type", 0);
  refused("IO,Slot,Data Type,Count,Count\n", "IO,Slot,Data Type,Count,Count", 0);
  refused("IO,Slot,Data Type,Shape,Count,Count,Count\n",
          "IO,Slot,Data Type,Shape,Count,Count,Coun...", 0);
  refused("IO,Slot,Data Type,\"Count\n", "IO,Slot,Data Type,\"Count", 0);
  refused("\x1b\x7f\xff", "\\x1b\\x7f\\xff", 0);
  refused("IO,Slot,Data Type," + std::string(64, ','),
          "IO,Slot,Data Type,,,,,,,,,,,,,,,,,,,,,,,...", 0);
  refused(std::string(1000000, ','), std::string(40, ',') + "...", 0);
  refused("\"" + std::string(1000000, 'x'), "\"" + std::string(39, 'x') + "...", 0);

  CHECK(is_statistics_csv(Text(kDefault).bytes()));
  CHECK(is_statistics_csv(Text(kMindSpore + "Count").bytes()));
  CHECK(!is_statistics_csv(Text("PK\x03\x04").bytes()));
  CHECK(!is_statistics_csv({}));
}

void test_mindspore() {
  // Rows end with a comma, shapes are in quotes, every row has its own time.
  const auto csv =
      parse(kMindSpore +
            "Max Value,Min Value,L2Norm Value\n"
            "Sub,Default_Sub-op0,0,0,1733905446819790,input,0,4,float32,\"()\",3,3,3,\n"
            "Cast,Default_Cast-op0,0,0,1733905446824184,output,0,1,bool,\"()\",1,1,1,\n"
            "Div,\"a,\"\"b\"\"\",1,2,1733905446828341,output,1,24,int64,\"(2,3)\",0.5,"
            "-inf,nan,\n");
  CHECK_EQ(csv.problem.text(), "");
  CHECK_EQ(csv.tensors.size(), 3U);
  CHECK_EQ(op_of(csv.tensors[0]), "Sub|Default_Sub-op0|0|0|1733905446819790");
  CHECK_EQ(all_of(csv.tensors[0]), "input.0 float32 -1 () 4 | - 3 3 - 3 - - - - | ok");
  CHECK_EQ(op_of(csv.tensors[1]), "Cast|Default_Cast-op0|0|0|1733905446824184");
  CHECK_EQ(all_of(csv.tensors[1]), "output.0 bool -1 () 1 | - 1 1 - 1 - - - - | ok");
  CHECK_EQ(op_of(csv.tensors[2]), "Div|a,\"b\"|1|2|1733905446828341");
  CHECK_EQ(all_of(csv.tensors[2]), "output.1 int64 -1 (2,3,) 24 | - 0.5 -inf - nan - - - - | ok");

  // An older MindSpore writes null where no element is finite, and no comma at the end.
  const std::string all = kMindSpore +
                          "Max Value,Min Value,Avg Value,Count,Negative Zero Count,"
                          "Positive Zero Count,NaN Count,Negative Inf Count,Positive Inf Count,"
                          "Zero Count\n";
  CHECK_EQ(row_of(all, "Add,x,0,0,1,output,0,8,float32,\"(2)\",null,null,null,2,0,0,1,1,0,0"),
           "output.0 float32 -1 (2,) 8 | 2 - - - - 1 0 1 0 | ok");
  // What the names of other operators' columns look like does not matter.
  const auto msprobe = parse(
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,"
      "Shape,Max Value,NaN Count,MD5 Value\n"
      "Shape,Count,65535,-,,Input,0,4,DT_FLOAT,ND,1,2,0,abc\n");
  CHECK_EQ(op_of(only(msprobe)), "Shape|Count|65535|-|-");
  CHECK_EQ(all_of(only(msprobe)), "input.0 float32 2 (1,) 4 | - 2 - - - 0 - - - | ok");
  const auto bad = parse(kMindSpore + "Count\nAdd,x,a,0,-5,input,0,4,int8,\"()\",1,\n");
  CHECK_EQ(op_of(only(bad)), "Add|x|-|0|-");
  CHECK_EQ(judged(only(bad)), "malformed: task_id cannot be \"a\"");
}

// CANN with chosen statistics. Once its writer has written a file of the default ones it forgets
// the count that its header announces.
void test_forgotten_count() {
  const std::string chosen = kDescription + "Count,Max Value,Min Value,l2norm\n";
  const std::string description = "input.0 int32 41 (100,20,40,) 268435456 | ";
  const std::string line = "Input,0,268435456,DT_INT32,ALL,100x20x40,";
  CHECK_EQ(row_of(chosen, line + "80000,1234,5678,90.3005"),
           description + "80000 1234 5678 - 90.3005 - - - - | ok");
  CHECK_EQ(row_of(chosen, line + "1234,5678,90.3005"),
           description + "- 1234 5678 - 90.3005 - - - - | ok");

  // With NaN counted, its header has Count twice and its rows have it once.
  const std::string twice = kDescription + "Count,Max Value,Count,Nan Count,l2norm\n";
  CHECK_EQ(row_of(twice, line + "1234,80000,7,90.3005"),
           description + "80000 1234 - - 90.3005 7 - - - | ok");
  CHECK_EQ(row_of(twice, line + "80000,1234,80000,7,90.3005"),
           description +
               "- - - - - - - - - | malformed: line 2 has 11 fields, its header 11: "
               "which is which is not certain, its statistics are left out");

  // Nor has it anything to do with MindSpore's, which may have the count there.
  CHECK_EQ(row_of(kMindSpore + "Count,NaN Count\n", "Add,x,0,0,1,input,0,4,int8,\"()\",7"),
           "input.0 int8 -1 () 4 | - - - - - - - - - | malformed: line 2 has 11 fields, its header "
           "12: which is which is not certain, its statistics are left out");

  // Then a row of NA has the count anywhere or nowhere.
  const std::string none = " | unsupported: the device reports no statistics of it";
  const std::string four = kDescription + "Count,Max Value,Min Value,Avg Value,l2norm\n";
  CHECK_EQ(row_of(chosen, line + "NA,NA,NA"), description + "- - - - - - - - -" + none);
  CHECK_EQ(row_of(chosen, line + "80000,NA,NA,NA"), description + "80000 - - - - - - - -" + none);
  CHECK_EQ(row_of(four, line + "NA,NA,NA,80000,NA"), description + "80000 - - - - - - - -" + none);
  CHECK_EQ(row_of(four, line + "NA,NA,NA,NA"), description + "- - - - - - - - -" + none);
  CHECK_EQ(row_of(twice, line + "NA,NA,NA"), description + "- - - - - - - - -" + none);
  CHECK_EQ(row_of(kDescription + "Count,Max Value,Min Value,Count,Nan Count,Negative Inf Count\n",
                  line + "NA,NA,NA,80000,NA"),
           description + "80000 - - - - - - - -" + none);

  // The bug is of chosen statistics and of one field.
  const std::string left_out = ": which is which is not certain, its statistics are left out";
  CHECK_EQ(
      row_of(chosen, line + "1234,5678"),
      description + "- - - - - - - - - | malformed: line 2 has 8 fields, its header 10" + left_out);
  CHECK_EQ(row_of(kDefault, line + "1234,5678,10.1,400,500,600"),
           description + "- - - - - - - - - | malformed: line 2 has 12 fields, its header 13" +
               left_out);
}

void test_rows_of_another_length() {
  const std::string left_out = ": which is which is not certain, its statistics are left out";
  const std::string line = "Input,3,8,DT_FLOAT,ND,";
  CHECK_EQ(row_of(kDefault, line + "2x1,1,1,1,2,0,0,0,"),
           "input.3 float32 2 (2,1,) 8 | 2 1 1 1 - 0 0 0 - | ok");
  CHECK_EQ(row_of(kDefault, line + "2x1,1,1,1,2,0,0,0,0"),
           "input.3 float32 2 (2,1,) 8 | - - - - - - - - - | "
           "malformed: line 2 has 14 fields, its header 13" +
               left_out);
  CHECK_EQ(row_of(kDefault, line + "2x1,1,1,1,2,0,0,0,,"),
           "input.3 float32 2 (2,1,) 8 | - - - - - - - - - | "
           "malformed: line 2 has 15 fields, its header 13" +
               left_out);
  CHECK_EQ(row_of(kDefault, line + "2x1" + std::string(1000, ',')),
           "input.3 float32 2 (2,1,) 8 | - - - - - - - - - | "
           "malformed: line 2 has too many fields, its header 13" +
               left_out);
  // A number may be the shape, or the maximum if it is the shape that lacks.
  CHECK_EQ(row_of(kDefault, line + "1,1,1,2,0,0,0"),
           "input.3 float32 2 - 8 | - - - - - - - - - | "
           "malformed: line 2 has 12 fields, its header 13" +
               left_out);
  CHECK_EQ(row_of(kDefault, "Input,3,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0"),
           "input.3 - -1 - - | - - - - - - - - - | "
           "malformed: line 2 has 12 fields, its header 13" +
               left_out);
  // Where rows end with a comma, one without has a field too few.
  const auto csv = parse(kMindSpore +
                         "Max Value,Min Value\n"
                         "Add,a,0,0,1,input,0,4,float32,\"()\",3,2,\n"
                         "Add,a,0,0,2,input,1,4,float32,\"()\",3,\n"
                         "Add,a,0,0,3,input,2,4,float32,\"()\",3,2\n"
                         "Add,a,0,0,4,output,0,4,float32,\"()\",3,,\n");
  CHECK_EQ(csv.tensors.size(), 4U);
  CHECK_EQ(all_of(csv.tensors[0]), "input.0 float32 -1 () 4 | - 3 2 - - - - - - | ok");
  CHECK_EQ(all_of(csv.tensors[1]),
           "input.1 float32 -1 () 4 | - - - - - - - - - | "
           "malformed: line 3 has 11 fields, its header 12" +
               left_out);
  CHECK_EQ(all_of(csv.tensors[2]), "input.2 float32 -1 () 4 | - 3 2 - - - - - - | ok");
  CHECK_EQ(all_of(csv.tensors[3]), "output.0 float32 -1 () 4 | - 3 - - - - - - - | ok");
}

void test_lines_that_are_no_rows() {
  const std::string row = "Input,0,8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0\n";
  const auto problem = [&](std::string_view line) {
    const auto csv = parse(kDefault + row + std::string(line) + "\n" + row);
    CHECK_EQ(csv.tensors.size(), 2U);
    for (const ReportedTensor& tensor : csv.tensors) {
      CHECK_EQ(computed(tensor), "2 1 1 1 - 0 0 0 -");
    }
    CHECK_EQ(to_string(csv.status), csv.problem.empty() ? "ok" : "malformed");
    return csv.problem.text();
  };
  const std::string at = "line 3, at byte " + std::to_string(kDefault.size() + row.size()) + ", ";
  CHECK_EQ(problem("some words"), at + "is no row: it begins with \"some words\"");
  CHECK_EQ(problem("Inward,0,8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0"),
           at + "is no row: it begins with \"Inward,0,8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0\"");
  CHECK_EQ(problem("Input,x,8,DT_FLOAT"), at + "is no row: it begins with \"Input,x,8,DT_FLOAT\"");
  CHECK_EQ(problem("Input,4294967296,8"), at + "is no row: it begins with \"Input,4294967296,8\"");
  const std::string unread = at + "is no row: it is too long, or a quote in it is not closed";
  CHECK_EQ(problem("Input,0,\"8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0"), unread);
  CHECK_EQ(problem("Input,0,\"8\"8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0"), unread);
  CHECK_EQ(problem(row.substr(0, row.size() - 1) + std::string(kMaxStatisticsLineBytes, ',')),
           unread);
  CHECK_EQ(problem("a\nb\nc"),
           at + "is no row: it begins with \"a\"; 3 lines in all give no tensor");
  CHECK_EQ(problem(""), "");
  CHECK_EQ(problem(" \r"), "");
  CHECK_EQ(problem("\0\0"sv), "");
  // A header once more, as it is and with other columns.
  CHECK_EQ(problem(kDefault), "");
  const auto csv = parse(kDefault + row + "Slot,IO,Data Type,Max Value\n5,output,int8,7\n");
  CHECK_EQ(csv.problem.text(), "");
  CHECK_EQ(all_of(csv.tensors.at(1)), "output.5 int8 -1 - - | - 7 - - - - - - - | ok");
  // A piece that a writer ended with NUL.
  CHECK_EQ(parse(kDefault + row + "\0"s + row).tensors.size(), 2U);
}

void test_files_that_end_early() {
  const std::string whole = kDefault + "Input,0,8,DT_FLOAT,ND,2x1,1.25,1,1,2,0,0,60";
  const auto last = [](const std::string& text) { return all_of(only(parse(text))); };
  const std::string cut = "truncated: the file ends within line 2: its statistics are left out";
  CHECK_EQ(last(whole + "\n"), "input.0 float32 2 (2,1,) 8 | 2 1.25 1 1 - 0 60 0 - | ok");
  CHECK_EQ(last(whole),
           "input.0 float32 2 (2,1,) 8 | 2 1.25 1 1 - 0 60 0 - | ok: "
           "the file ends without a line end: the last value may be cut short");
  CHECK_EQ(last(whole + ","), "input.0 float32 2 (2,1,) 8 | 2 1.25 1 1 - 0 60 0 - | ok");
  CHECK_EQ(last(whole.substr(0, whole.size() - 3)),
           "input.0 float32 2 (2,1,) 8 | - - - - - - - - - | " + cut);
  CHECK_EQ(last(kDefault + "Input,0,8,DT_FLOAT,ND,2x1"),
           "input.0 float32 2 - 8 | - - - - - - - - - | " + cut);
  CHECK_EQ(last(kDefault + "Input,0,80"), "input.0 - -1 - - | - - - - - - - - - | " + cut);
  CHECK_EQ(last(kDescription + "Count,Max Value,l2norm\nInput,0,8,DT_FLOAT,ND,2x1,2,1.25"),
           "input.0 float32 2 (2,1,) 8 | - - - - - - - - - | " + cut);

  const auto lost = [](const std::string& text) {
    const auto csv = parse(text);
    CHECK_EQ(csv.tensors.size(), 0U);
    return std::string(to_string(csv.status)) + ": " + csv.problem.text();
  };
  const std::string second = "truncated: line 2, at byte " + std::to_string(kDefault.size()) +
                             ", is cut: the file ends within it";
  CHECK_EQ(lost(kDefault + "Input,1"), second);
  CHECK_EQ(lost(kDefault + "Inp"), second);
  CHECK_EQ(lost(kDefault + "\"Inp"), second);
  CHECK_EQ(lost(kDefault + kDefault.substr(0, 60)), second);
  CHECK_EQ(lost(kDefault + kDefault.substr(0, kDefault.size() - 1)), second);
  CHECK_EQ(lost(kDefault.substr(0, 60)),
           "truncated: line 1, at byte 0, is cut: the file ends within it");
  CHECK_EQ(lost(kDefault + "x\nInp"), "malformed: line 2, at byte " +
                                          std::to_string(kDefault.size()) +
                                          ", is no row: it begins with \"x\"; "
                                          "2 lines in all give no tensor");
  CHECK_EQ(lost(kDefault), "ok: ");
}

// The reference texts, of every writer.
std::vector<std::string> reference_texts() {
  return {
      kDefault +
          "Output,0,640000,DT_FLOAT,NHWC,4x50x50x16,1.99999,1,1.50004,160000,0,0,0\n"
          "Input,0,268435456,DT_BF16,ND,100x20x40,1.4013e-43,-inf,nan,80000,400,500,600\n"
          "Input,1,268435456,DT_INT32,ALL,100x20x40,NA,NA,NA,80000,NA,NA,NA\n",
      kDescription +
          "Count,Max Value,Min Value,l2norm\n"
          "Input,0,268435456,DT_INT32,ALL,100x20x40,1234,5678,90.3005\n"
          "Input,1,268435456,DT_INT32,ALL,100x20x40,80000,1234,9223372036854775807,90.3005\n",
      kMindSpore +
          "Max Value,Min Value,L2Norm Value\n"
          "Sub,Default_Sub-op0,0,0,1733905446819790,input,0,4,float32,\"()\",3,3,3,\n"
          "Div,Default_Div-op0,0,0,1733905446828341,output,0,4,float32,\"(2,3)\",0.5,0.5,0.5,\n",
  };
}

bool is_marked(const ReportedTensor& row) {
  return row.tensor.status != Status::ok || !row.tensor.note.empty();
}

// However a file is cut, a row is what it was or says that it may not be.
void test_every_prefix() {
  for (const std::string& text : reference_texts()) {
    const ReadCsv whole = parse(text);
    for (std::size_t n = 0; n < text.size(); ++n) {
      ReadCsv part;
      try {
        part = parse(text.substr(0, n));
      } catch (const FormatError&) {
        CHECK(n < text.find('\n'));
        continue;
      }
      CHECK(part.tensors.size() <= whole.tensors.size());
      for (std::size_t i = 0; i < part.tensors.size(); ++i) {
        CHECK(is_marked(part.tensors[i]) || all_of(part.tensors[i]) == all_of(whole.tensors[i]));
      }
      if (text[n - 1] == '\n') CHECK_EQ(part.problem.text(), "");
    }
  }
}

void test_every_changed_byte() {
  constexpr std::string_view kBytes("\0\t\n\r \"',-.019;AINx\x7f\x80\xff", 21);
  for (const std::string& text : reference_texts()) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const char byte : kBytes) {
        std::string changed = text;
        changed[at] = byte;
        try {
          const ReadCsv csv = parse(changed);
          CHECK(csv.tensors.size() <= 4);
          CHECK(csv.problem.text().size() < 200);
          for (const ReportedTensor& row : csv.tensors) CHECK(row.tensor.note.text().size() < 300);
        } catch (const FormatError&) {
          CHECK(at < text.find('\n') + 1);
        }
      }
    }
  }
}

void test_huge_tables() {
  std::string text = "IO,Slot,Data Type\n";
  for (std::size_t i = 0; i < kMaxReportedTensors; ++i) text += "input,0,-\n";
  CHECK_EQ(parse(text).tensors.size(), kMaxReportedTensors);
  CHECK_EQ(parse(text).problem.text(), "");
  const std::size_t end = text.size();
  text += "input,0,-\ninput,0,-\n";
  const ReadCsv csv = parse(text);
  CHECK_EQ(csv.tensors.size(), kMaxReportedTensors);
  CHECK_EQ(csv.problem.text(),
           "line 1048578, at byte " + std::to_string(end) +
               ", is left out, and all that follows: it is one tensor more than "
               "1048576");
  CHECK_EQ(to_string(csv.status), "malformed");

  CHECK_EQ(parse(kDefault + std::string(20000000, 'x')).tensors.size(), 0U);
  CHECK_EQ(parse(kDefault + std::string(20000000, '\n')).problem.text(), "");
  CHECK_EQ(parse(kDefault + std::string(20000000, '"')).tensors.size(), 0U);
  std::string lines = kDefault;
  for (int i = 0; i < 1000000; ++i) lines += "\"\n";
  CHECK(parse(lines).problem.text().ends_with("; 1000000 lines in all give no tensor"));
}

// Cut into executions

std::string shown(const FileRows& rows) {
  std::string text = rows.op == nullptr ? "" : rows.op->op_name + "@" + number(rows.op->timestamp);
  for (const TensorRow& row : rows.tensors) {
    text.append(" ").append(to_string(row.tensor.io)).append(".");
    text.append(std::to_string(row.tensor.index)).append("=").append(number(row.reported->max));
  }
  if (rows.tensors.empty()) text.append(" ").append(to_string(rows.status));
  return text + (rows.note.empty() ? "" : " (" + rows.note.text() + ")");
}

std::vector<std::string> rows_of(std::string_view name, const Selection& selection,
                                 std::string_view text) {
  std::vector<std::string> shown_rows;
  for (const FileRows& rows : reported_rows(7, parse_file_name(name), selection, text)) {
    CHECK_EQ(rows.file, 7U);
    CHECK(rows.source == RowSource::csv);
    shown_rows.push_back(shown(rows));
  }
  return shown_rows;
}

void check_rows(int line, const std::vector<std::string>& found,
                const std::vector<std::string>& expected) {
  for (std::size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
    tests::check_equal(__FILE__, line, "row", i < found.size() ? found[i] : "none",
                       i < expected.size() ? expected[i] : "none");
  }
}

void test_executions() {
  const std::string_view name = "Add.op.1.2.1700000000000000.csv";
  const std::string header = "Input/Output,Index,Data Type,Max Value\n";
  // Outputs first, then the inputs in two pieces: one execution.
  check_rows(__LINE__,
             rows_of(name, {},
                     header + "Output,0,int8,1\nInput,1,int8,2\n" + header +
                         "Input,10,int8,3\nInput,0,int8,4\n"),
             {" input.0=4 input.1=2 input.10=3 output.0=1"});
  // The same tensor again is another dump.
  check_rows(__LINE__,
             rows_of(name, {},
                     header + "Input,0,int8,1\nOutput,0,int8,2\nInput,0,int8,3\nOutput,0,int8,4\n"),
             {" input.0=1 output.0=2", " input.0=3 output.0=4 (dumped more than once)"});
  check_rows(__LINE__, rows_of(name, {}, header), {" ok (the table has no row)"});
  check_rows(__LINE__, rows_of(name, {}, header + "Input,0,int8,1\nx\n"),
             {" input.0=1", " malformed (line 3, at byte 54, is no row: it begins with \"x\")"});
  check_rows(__LINE__, rows_of(name, {}, header + "Input,0,int8,1\nx"),
             {" input.0=1", " truncated (line 3, at byte 54, is cut: the file ends within it)"});
}

void test_executions_of_many_operators() {
  const std::string text =
      "Op Type,Op Name,Timestamp,IO,Slot,Data Type,Max Value\n"
      "Add,a,5,output,0,int8,1,\n"
      "Add,a,5,input,0,int8,2,\n"
      "Add,a,6,input,0,int8,3,\n"
      "Mul,m,6,input,0,int8,4,\n"
      "Mul,m,6,input,0,int8,5,\n"
      "Add,a,5,output,0,int8,6,\n"
      ",,,output,0,int8,7,\n"
      "x\n";
  const std::string lost = " malformed (line 9, at byte 220, is no row: it begins with \"x\")";
  check_rows(__LINE__, rows_of("statistic.csv", {}, text),
             {"a@5 input.0=2 output.0=1", "a@6 input.0=3", "m@6 input.0=4",
              "m@6 input.0=5 (dumped more than once)", "a@5 output.0=6", "@- output.0=7", lost});
  Selection selection;
  selection.io = {Io::output};
  check_rows(__LINE__, rows_of("statistic.csv", selection, text),
             {"a@5 output.0=1", "a@5 output.0=6 (dumped more than once)", "@- output.0=7", lost});
  selection = {};
  selection.op_type = {"M*"};
  check_rows(__LINE__, rows_of("statistic.csv", selection, text),
             {"m@6 input.0=4", "m@6 input.0=5 (dumped more than once)", lost});
  selection = {};
  selection.op_name = {"[ab]"};
  selection.io = {Io::input};
  check_rows(__LINE__, rows_of("statistic.csv", selection, text),
             {"a@5 input.0=2", "a@6 input.0=3", lost});
}

void test_selection_by_the_file_s_name() {
  const std::string text = "IO,Slot,Data Type,Max Value\ninput,0,int8,1\nx\n";
  const FileName name = parse_file_name("Add.op.1.2.1700000000000000.csv");
  Selection selection;
  selection.op_type = {"Mul"};
  CHECK(!selection.may_hold({}, name));
  CHECK(selection.may_hold({}, parse_file_name("statistic.csv")));
  CHECK(!selection.may_hold({}, parse_file_name("9134657216587341217")));
  CHECK_EQ(reported_rows(0, name, selection, text).size(), 0U);
  selection.op_type = {"A*", "Mul"};
  CHECK_EQ(reported_rows(0, name, selection, text).size(), 2U);
  selection.op_name = {"o"};
  CHECK_EQ(reported_rows(0, name, selection, text).size(), 0U);
  // A table that names no operator, in a file whose name tells none either: only the lost line may
  // be about one that is asked for.
  selection = {};
  selection.op_type = {"*"};
  CHECK_EQ(reported_rows(0, parse_file_name("t.csv"), selection, text).size(), 1U);
  selection.op_type = {"A*"};
  CHECK_EQ(reported_rows(0, parse_file_name("t.csv"), selection, text).size(), 1U);
}

void test_bad_rows() {
  const auto is_bad_row = [](const auto& report, Status status = Status::ok) {
    TensorRow row;
    row.tensor.status = status;
    row.reported = std::make_unique<ReportedStatistics>();
    report(*row.reported);
    return is_bad(row);
  };
  using Reported = ReportedStatistics;
  const auto nothing = [](Reported&) {};
  const auto no_bad = [](Reported& r) { r.nan = r.pos_inf = r.neg_inf = 0; };
  CHECK(!is_bad_row(nothing));
  CHECK(!is_bad_row([](Reported& r) { r.max = r.min = r.mean = r.l2norm = 1; }));
  CHECK(!is_bad_row(nothing, Status::unsupported));
  CHECK(is_bad_row(nothing, Status::malformed));
  CHECK(is_bad_row(nothing, Status::truncated));
  CHECK(is_bad_row([](Reported& r) { r.max = kInf; }));
  CHECK(is_bad_row([](Reported& r) { r.min = -kInf; }));
  CHECK(is_bad_row([](Reported& r) { r.mean = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(is_bad_row([](Reported& r) { r.l2norm = kInf; }));
  CHECK(is_bad_row([](Reported& r) { r.nan = 1; }));
  CHECK(is_bad_row([](Reported& r) { r.pos_inf = 1; }));
  CHECK(is_bad_row([](Reported& r) { r.neg_inf = 1; }));
  // All are counted: a norm that float32 cannot hold is no bad element.
  CHECK(!is_bad_row([&](Reported& r) {
    no_bad(r);
    r.l2norm = kInf;
  }));
  CHECK(is_bad_row([&](Reported& r) {
    no_bad(r);
    r.l2norm = kInf;
    r.neg_inf.reset();
  }));
}

int run() {
  test_default_statistics();
  test_values();
  test_counts();
  test_descriptions();
  test_headers();
  test_mindspore();
  test_forgotten_count();
  test_rows_of_another_length();
  test_lines_that_are_no_rows();
  test_files_that_end_early();
  test_every_prefix();
  test_every_changed_byte();
  test_huge_tables();
  test_executions();
  test_executions_of_many_operators();
  test_selection_by_the_file_s_name();
  test_bad_rows();
  return tests::exit_code();
}

}  // namespace
}  // namespace fastdump

int main() { return fastdump::run(); }
