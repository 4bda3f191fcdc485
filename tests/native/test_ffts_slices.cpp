// FFTS+ slices: which part of a tensor a thread dumped, and when nothing is known about that.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/ffts_slices.hpp"
#include "core/formats/standard.hpp"
#include "invariants.hpp"
#include "mutations.hpp"
#include "standard_file.hpp"

namespace fastdump {
namespace {

using namespace tests;
using Shape = std::vector<std::int64_t>;

// Two threads cut the rows of an input and of two outputs, [4, 3], [4] and [2, 4, 2]; the second
// input is whole.
constexpr std::string_view kCuts = R"({"threadMode": 1, "slice_instance_num": 2,
  "input_tensor_slice": [
    [[{"lower": 0, "higher": 3}, {"lower": 0, "higher": 3}], [{"lower": 0, "higher": 5}]],
    [[{"lower": 3, "higher": 4}, {"lower": 0, "higher": 3}], [{"lower": 0, "higher": 5}]]],
  "output_tensor_slice": [
    [[{"lower": 0, "higher": 3}],
     [{"lower": 0, "higher": 2}, {"lower": 0, "higher": 1}, {"lower": 0, "higher": 2}]],
    [[{"lower": 3, "higher": 4}],
     [{"lower": 0, "higher": 2}, {"lower": 1, "higher": 4}, {"lower": 0, "higher": 2}]]]})";

Message header(std::string_view cuts, std::uint64_t thread) {
  const std::uint64_t rows = thread == 0 ? 3 : 1;
  const std::uint64_t columns = thread == 0 ? 1 : 3;
  return Message()
      .message(4, input({.shape = {4, 3}, .size = rows * 3 * 4}))
      .message(4, input({.shape = {5}, .size = 20}))
      .message(3, output({.data_type = 2, .shape = {4}, .size = rows * 2}))
      .message(3, output({.data_type = 3, .shape = {2, 4, 2}, .size = 4 * columns}))
      .message(5, sized(10))
      .message(7, Message().text(1, "some").text(2, "attribute"))
      .message(7, Message().text(1, "any name").text(2, cuts));
}

FileDescription describe_thread(const Message& header, std::optional<std::int64_t> thread_id,
                                std::uint64_t payload_nbytes = 200) {
  const Head head(with_length(header));
  FileDescription description;
  describe_standard(head.span(), head.span().size() + payload_nbytes, thread_id, description);
  return description;
}

void test_parts_of_threads() {
  const FileDescription first = describe_thread(header(kCuts, 0), 0);
  CHECK(first.tensors.at(0).shape == (Shape{3, 3}));
  CHECK(first.tensors.at(1).shape == (Shape{5}));
  CHECK(first.tensors.at(2).shape == (Shape{3}));
  CHECK(first.tensors.at(3).shape == (Shape{2, 1, 2}));
  CHECK_TENSOR(first.tensors.at(0), ok, 9, "");
  CHECK_TENSOR(first.tensors.at(1), ok, 5, "");
  CHECK_TENSOR(first.tensors.at(2), ok, 3, "");
  CHECK_TENSOR(first.tensors.at(3), ok, 4, "");

  const FileDescription second = describe_thread(header(kCuts, 1), 1);
  CHECK_EQ(second.slices.size(), 3U);  // not of what is whole
  const TensorSlice& in = second.slices.at(0);
  CHECK_EQ(in.tensor, 0U);
  CHECK(in.lower == (Shape{3, 0}) && in.higher == (Shape{4, 3}) && in.full_shape == (Shape{4, 3}));
  CHECK_EQ(second.slices.at(1).tensor, 2U);
  const TensorSlice& out = second.slices.at(2);
  CHECK_EQ(out.tensor, 3U);
  CHECK(out.lower == (Shape{0, 1, 0}) && out.higher == (Shape{2, 4, 2}));
  CHECK(out.full_shape == (Shape{2, 4, 2}));
  CHECK(second.tensors.at(3).shape == (Shape{2, 3, 2}));
  CHECK_TENSOR(second.tensors.at(3), ok, 12, "");
  check_invariants(second, 10000);
}

void test_a_header_without_cuts_and_a_name_without_thread() {
  CHECK(describe_thread(header(kCuts, 0), std::nullopt).slices.empty());
  CHECK_TENSOR(describe_thread(header(kCuts, 0), std::nullopt).tensors.at(0), size_mismatch, 9,
               "size 36 is less than the 48 bytes of shape 4x3");
  CHECK(describe_thread(header("{}", 0), 0).slices.empty());
  CHECK(describe_thread(Message().message(4, input({.shape = {2}, .size = 8})), 0).slices.empty());
  for (const std::int64_t thread : {std::int64_t{2}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    CHECK(describe_thread(header(kCuts, 0), thread).slices.empty());
  }
}

// The size is what was dumped: cuts that do not agree with it are not believed.
void test_sizes_decide() {
  CHECK(describe_thread(header(kCuts, 1), 0).slices.empty());
  CHECK(describe_thread(header(kCuts, 1), 0).tensors.at(0).shape == (Shape{4, 3}));
  const auto of_size = [](std::uint64_t size) {
    const Message one = Message()
                            .message(4, input({.data_type = 28, .shape = {4, 3}, .size = size}))
                            .message(7, Message().text(2, kCuts));
    return describe_thread(one, 0).slices.size();
  };
  CHECK_EQ(of_size(5), 1U);  // nine elements of four bits
  CHECK_EQ(of_size(4), 0U);
  CHECK_EQ(of_size(6), 0U);
}

FileDescription with_cuts(const std::vector<std::uint64_t>& shape, std::uint64_t size,
                          std::string_view ranges) {
  const std::string cuts =
      R"({"input_tensor_slice": [[)" + std::string(ranges) + R"(]], "output_tensor_slice": []})";
  const Message one = Message()
                          .message(4, input({.shape = shape, .size = size}))
                          .message(7, Message().text(1, "a").text(2, cuts));
  return describe_thread(one, 0);
}

void test_ranges_that_make_no_sense() {
  CHECK_EQ(with_cuts({8}, 16, R"([{"lower": 2, "higher": 6}])").slices.size(), 1U);
  CHECK_EQ(with_cuts({8}, 16, R"([{"higher": 6, "lower": 2, "more": 1}])").slices.size(), 1U);
  CHECK_EQ(with_cuts({8}, 0, R"([{"lower": 2, "higher": 2}])").slices.size(), 1U);
  for (const char* ranges :
       {R"([{"lower": 5, "higher": 9}])",                             // beyond the tensor
        R"([{"lower": -1, "higher": 3}])",                            //
        R"([{"lower": 6, "higher": 2}])",                             // backwards
        R"([{"lower": 2.0, "higher": 6}])",                           // no integers
        R"([{"lower": "2", "higher": "6"}])",                         //
        R"([{"lower": 2}])",                                          // one end only
        R"([{"higher": 4}])",                                         //
        R"([{"lower": 2, "higher": 6}, {"lower": 0, "higher": 1}])",  // two dimensions
        R"([])", R"([[2, 6]])", R"([2, 6])", R"({"lower": 2, "higher": 6})", R"(null)", R"(4)"}) {
    const FileDescription d = with_cuts({8}, 16, ranges);
    CHECK(d.slices.empty());
    CHECK(d.tensors.at(0).shape == Shape{8});
    CHECK(d.tensors.at(0).status == Status::size_mismatch);
  }
  // Backwards, and as many elements as the size says: none.
  const FileDescription none =
      with_cuts({8, 8}, 0, R"([{"lower": 6, "higher": 4}, {"lower": 2, "higher": 2}])");
  CHECK(none.slices.empty());
  CHECK(none.tensors.at(0).shape == (Shape{8, 8}));
  // Unknown and impossible dimensions.
  CHECK(with_cuts({kMaxU64}, 16, R"([{"lower": 0, "higher": 4}])").slices.empty());
  CHECK(with_cuts({kMaxU64 - 1}, 16, R"([{"lower": 0, "higher": 4}])").slices.empty());
  // A part of more elements than 64 bits count.
  const std::uint64_t many = std::uint64_t{1} << 40;
  const FileDescription huge = with_cuts(
      {many, many}, kMaxU64,
      R"([{"lower": 0, "higher": 1099511627776}, {"lower": 0, "higher": 1099511627775}])");
  check_invariants(huge, 10000);
  CHECK(huge.tensors.at(0).status != Status::ok);
}

void test_attributes_that_are_something_else() {
  for (const char* text : {"tensor_slice", "[1, \"tensor_slice\"]", "\"tensor_slice\"",
                           "{\"input_tensor_slice\": ", "{\"input_tensor_slice\": 5}",
                           "{\"input_tensor_slice\": [5]}", "{\"input_tensor_slice\": [[5]]}",
                           "{\"input_tensor_slice\": {}}", "my input_tensor_slice {tag}"}) {
    const FileDescription d = describe_thread(header(text, 0), 0);
    CHECK(d.slices.empty());
    CHECK_EQ(d.attrs.at(1).second, text);
    CHECK(d.tensors.at(0).shape == (Shape{4, 3}));
  }
  // Somebody's text before the one that tells.
  const Message listed = Message().message(7, Message().text(2, R"(["tensor_slice"])"));
  CHECK_EQ(
      describe_thread(Message().raw(listed.bytes()).raw(header(kCuts, 1).bytes()), 1).slices.size(),
      3U);
  const Message tagged =
      Message().message(7, Message().text(1, "user_tag").text(2, "{not JSON: tensor_slice"));
  CHECK_EQ(
      describe_thread(Message().raw(tagged.bytes()).raw(header(kCuts, 1).bytes()), 1).slices.size(),
      3U);
}

// As many members before those that count as there may be, and as many tensors: to search the
// object for each tensor would take long.
void test_an_object_with_many_members() {
  constexpr std::size_t kTensors = kMaxTensorsPerFile;
  std::string cuts = "{";
  for (std::size_t i = 0; i < 9000; ++i) cuts += "\"\":0,";
  cuts += R"("output_tensor_slice": [[)";
  std::string tensors;
  for (std::size_t i = 0; i < kTensors; ++i) {
    cuts += i == 0 ? "[]" : ",[]";
    tensors += "\x1a\x02\x08\x01";
  }
  const FileDescription d = describe_thread(
      Message().raw(tensors).message(7, Message().text(1, "x").text(2, cuts + "]]}")), 0);
  CHECK_EQ(d.tensors.size(), kTensors);
  CHECK(d.slices.empty());
}

void test_reused_description() {
  const Head sliced(with_length(header(kCuts, 1)));
  const Head plain(with_length(Message().message(3, output({.shape = {4}, .size = 16}))));
  FileDescription reused;
  describe_standard(sliced.span(), 1000, 1, reused);
  describe_standard(plain.span(), plain.span().size() + 16, 1, reused);
  CHECK(reused.slices.empty() && reused.original_ops.empty());
  CHECK(reused.tensors.at(0).shape == Shape{4});
}

void test_any_bytes() {
  const std::string file = with_length(header(kCuts, 1)) + std::string(12 + 20 + 2 + 12 + 10, '\1');
  const std::size_t end = file.size() - 56;
  FileDescription reused;
  std::size_t n_slices = 0;
  const auto check = [&](std::string_view bytes) {
    const auto described = [&]() -> const FileDescription& {
      const Head whole(bytes);
      const std::uint64_t header_end = standard_header_end(whole.span(), bytes.size());
      describe_standard(Head(bytes.substr(0, header_end)).span(), bytes.size(), 1, reused);
      n_slices += reused.slices.size();
      return reused;
    };
    check_described(described, bytes.size());
  };
  for_every_prefix(file, check);
  CHECK_EQ(n_slices, 3U * 57);
  for_every_changed_byte(file, end, check);
  for_many_changes(file, end, 5000, check);
  CHECK(n_slices > 100000 / kChangesStep);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_parts_of_threads();
  test_a_header_without_cuts_and_a_name_without_thread();
  test_sizes_decide();
  test_ranges_that_make_no_sense();
  test_attributes_that_are_something_else();
  test_an_object_with_many_members();
  test_reused_description();
  test_any_bytes();
  return tests::exit_code();
}
