// The attribute that says which part of a tensor a thread has dumped: any text, for a header of
// tensors of some shapes and sizes.
#include "core/formats/ffts_slices.hpp"

#include "choices.hpp"
#include "dump_seeds.hpp"
#include "promises.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

FileDescription describe(Choices& choices) {
  FileDescription description;
  description.tensors.resize(1 + choices.byte() % 4);
  std::uint32_t index = 0;
  for (TensorDescription& tensor : description.tensors) {
    tensor.io = index == 0 ? Io::input : Io::output;
    tensor.index = index == 0 ? 0 : index - 1;
    ++index;
    tensor.dtype = find_data_type(std::int64_t{choices.byte() % 40});
    for (int n = choices.byte() % 4; n > 0; --n) {
      tensor.shape.push_back(static_cast<std::int64_t>(choices.size()));
    }
    tensor.nbytes = choices.size();
  }
  return description;
}

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices(input);
  FileDescription description = describe(choices);
  const auto thread_id = static_cast<std::int64_t>(choices.byte()) - 2;
  description.attrs.emplace_back("cuts", Exact(choices.rest()).text());
  const FileDescription before = description;
  FileDescription again = description;
  apply_ffts_slices(description, thread_id);
  apply_ffts_slices(again, thread_id);
  CHECK(is_same(description, again));
  tests::check_details(description);
  for (const TensorSlice& slice : description.slices) {
    // The shape is that of the part only if the size is, too.
    const TensorDescription& t = description.tensors.at(slice.tensor);
    CHECK(slice.full_shape == before.tensors.at(slice.tensor).shape);
    CHECK_EQ(packed_nbytes(count_elements(std::span<const std::int64_t>(t.shape)), t.dtype->bits),
             t.nbytes);
  }
}

std::vector<std::string> seeds() {
  // From the end: two tensors, each float32 of one dimension of 4, with 8 and with 4 bytes.
  std::string choices = {2, 4, 4, 1, 0, 8, 4, 1, 0, 1};
  std::string other = choices;
  other[0] = 3;
  return {slices_json() + choices, slices_json() + other};
}

}  // namespace fastdump::fuzz
