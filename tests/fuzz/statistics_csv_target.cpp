// A table of statistics that the vendor's software wrote.
#include "core/formats/statistics_csv.hpp"

#include "dump_seeds.hpp"
#include "promises.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

void check_tensor(const ReportedTensor& reported, std::size_t n_input) {
  const TensorDescription& t = reported.tensor;
  CHECK(t.n_elements == 0 && t.offset == 0);
  CHECK(t.shape.size() <= kMaxDims);
  CHECK(t.note.text().size() <= kMaxNoteNbytes);
  for (const std::int64_t dim : t.shape) CHECK(dim >= -1);
  if (reported.op == nullptr) return;
  CHECK(reported.op->op_type.size() <= n_input && reported.op->op_name.size() <= n_input);
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact text(input);
  const bool is_recognised = is_statistics_csv(text.bytes());
  auto read = StatisticsCsv::open(text.text(), {});
  const auto* refusal = std::get_if<Refusal>(&read);
  // A text that begins as no text does is a table only where its name says so.
  CHECK(!is_recognised || refusal == nullptr);
  if (refusal != nullptr) {
    check_refusal(refusal->what, refusal->offset, input.size());
    return;
  }
  auto& csv = std::get<StatisticsCsv>(read);
  const auto n_lines = static_cast<std::size_t>(std::ranges::count(text.text(), '\n')) + 1;
  std::size_t n = 0;
  for (ReportedTensor reported; csv.next(reported); ++n) check_tensor(reported, input.size());
  CHECK(n < n_lines);
  CHECK((csv.lost().status == Status::ok) == csv.lost().problem.empty());
  CHECK(csv.lost().problem.text().size() <= kMaxNoteNbytes);
  auto again = StatisticsCsv::open(text.text(), {});
  const FileDescription description =
      describe_statistics(std::get<StatisticsCsv>(std::move(again)), input.size());
  CHECK_EQ(description.tensors.size(), std::min(n, kMaxTensorsPerFile));
  tests::check_invariants(description, input.size());
}

std::vector<std::string> seeds() {
  return {statistics_seed(),
          "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,L2Norm Value,Max Value\r\n"
          "Input,0,16,DT_INT64,ND,-,4,5,9007199254740993\r\nOutput,0,1,DT_BOOL,ND,1,1,1\r\n",
          "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,"
          "Max Value,Zero Count\n"
          "Add,\"a,\"\"b\"\"\",1,2,1700000000000000,output,0,8,float32,\"(2,)\",nan,1\n"};
}

}  // namespace fastdump::fuzz
