#include "core/formats/ffts_slices.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/json.hpp"
#include "core/size.hpp"

namespace fastdump {
namespace {

// The attribute's name is not documented; its value is the only one that is such an object.
std::optional<JsonValue> find_cuts(const FileDescription& description) {
  for (const auto& [name, value] : description.attrs) {
    if (value.find("tensor_slice") == std::string::npos) continue;
    try {
      JsonValue cuts = parse_json(value);
      if (cuts.object() != nullptr) return cuts;
    } catch (const FormatError&) {
      // Somebody's text (a user_tag): shown as it is, not understood.
    }
  }
  return std::nullopt;
}

// What a member of the object says of one thread: an array with an element for each tensor.
const JsonValue* cuts_of_thread(const JsonValue& cuts, std::string_view member,
                                std::int64_t thread_id) {
  const JsonValue* threads = cuts.find(member);
  return threads == nullptr ? nullptr : threads->at(static_cast<std::size_t>(thread_id));
}

const std::int64_t* integer_of(const JsonValue& object, std::string_view key) {
  const JsonValue* member = object.find(key);
  return member == nullptr ? nullptr : member->integer();
}

// Of thread, tensor and dimension, [{"lower": a, "higher": b}, ...].
std::optional<TensorSlice> read_slice(const JsonValue& ranges, const TensorDescription& tensor) {
  const JsonArray* dims = ranges.array();
  if (dims == nullptr || dims->size() != tensor.shape.size()) return std::nullopt;
  TensorSlice slice;
  slice.full_shape = tensor.shape;
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const std::int64_t* lower = integer_of((*dims)[i], "lower");
    const std::int64_t* higher = integer_of((*dims)[i], "higher");
    if (lower == nullptr || higher == nullptr || *lower < 0 || *higher < *lower ||
        *higher > tensor.shape[i]) {
      return std::nullopt;
    }
    slice.lower.push_back(*lower);
    slice.higher.push_back(*higher);
  }
  return slice;
}

bool is_whole(const TensorSlice& slice) {
  return slice.higher == slice.full_shape &&
         std::ranges::all_of(slice.lower, [](std::int64_t lower) { return lower == 0; });
}

std::uint64_t nbytes_of(const TensorSlice& slice, int bits) {
  std::uint64_t n = 1;
  for (std::size_t i = 0; i < slice.lower.size(); ++i) {
    n = multiply(n, static_cast<std::uint64_t>(slice.higher[i] - slice.lower[i]));
  }
  return packed_nbytes(n, bits);
}

}  // namespace

void apply_ffts_slices(FileDescription& description, std::int64_t thread_id) {
  const std::optional<JsonValue> cuts = find_cuts(description);
  if (!cuts || thread_id < 0) return;
  // An object is searched member by member: once for each kind of tensor, not once for each tensor.
  const JsonValue* inputs = cuts_of_thread(*cuts, "input_tensor_slice", thread_id);
  const JsonValue* outputs = cuts_of_thread(*cuts, "output_tensor_slice", thread_id);
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    TensorDescription& tensor = description.tensors[i];
    if (!is_typed(tensor) || tensor.dtype == nullptr) continue;
    const JsonValue* tensors = tensor.io == Io::input ? inputs : outputs;
    const JsonValue* ranges = tensors == nullptr ? nullptr : tensors->at(tensor.index);
    if (ranges == nullptr) continue;
    std::optional<TensorSlice> slice = read_slice(*ranges, tensor);
    if (!slice || is_whole(*slice)) continue;
    if (nbytes_of(*slice, tensor.dtype->bits) != tensor.nbytes) continue;
    slice->tensor = i;
    for (std::size_t dim = 0; dim < tensor.shape.size(); ++dim) {
      tensor.shape[dim] = slice->higher[dim] - slice->lower[dim];
    }
    description.slices.push_back(*std::move(slice));
  }
}

}  // namespace fastdump
