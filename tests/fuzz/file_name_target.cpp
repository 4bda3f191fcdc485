// What names of files and of operators tell.
#include "core/formats/file_name.hpp"

#include "core/decimal.hpp"
#include "core/formats/layer_number.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

void check_number(std::optional<std::int64_t> number, std::string_view name) {
  if (!number) return;
  CHECK(*number >= 0);
  CHECK(name.find(std::to_string(*number)) != std::string_view::npos);
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact text(input);
  const std::string_view name = text.text();
  const FileName found = parse_file_name(name);
  for (const auto& number : {found.task_id, found.stream_id, found.timestamp, found.context_id,
                             found.thread_id, found.device, found.index}) {
    check_number(number, name);
  }
  CHECK(name.find(found.op_type) != std::string_view::npos);
  CHECK(name.find(found.op_name) != std::string_view::npos);
  CHECK(!to_string(found.kind).empty());
  if (found.kind == NameKind::standard) CHECK(found.timestamp.has_value());
  if (found.kind == NameKind::digits) CHECK(is_decimal(name));
  if (const auto layer = find_layer_number(name)) {
    CHECK(layer->begin < layer->end && layer->end <= name.size());
    CHECK(parse_decimal(name.substr(layer->begin, layer->end - layer->begin)) == layer->number);
  }
}

std::vector<std::string> seeds() {
  return {"Add.full.1.7.1700000000000000",
          "Add.ffts_op.1.7.1700000000000000.4.11.2.5",
          "Pooling.pool1.1147.1589195081588018",
          "Opdebug.Node_OpDebug.1.2.1700000000000000",
          "exception_info.1.2.20260101120000123",
          "x.custom.1700000000000000",
          "9134657216587341217",
          "Add.a.1.2.1700000000000000.csv",
          "Add.a.1.2.1700000000000000.output.3.2x3.npy",
          "Add.a.1.2.1700000000000000.l1buffer.3.bin",
          "mapping.csv",
          "statistic.csv",
          "model.layers.12.self_attn/MatMul"};
}

}  // namespace fastdump::fuzz
