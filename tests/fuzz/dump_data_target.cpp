// The message of a dump. The two ways to read it, from memory and from a file through a window, say
// the same.
#include "core/formats/dump_data.hpp"

#include "dump_seeds.hpp"
#include "promises.hpp"
#include "served_file.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

// Of a message with the payloads that it claims, wherever they would lie.
void check_decoded(const FileDescription& d, Payloads payloads, std::uint64_t n_message) {
  check_texts(d);
  tests::check_details(d);
  CHECK(d.tensors.size() <= kMaxTensorsPerFile && d.attrs.size() <= kMaxAttrs);
  const TensorDescription* before = nullptr;
  for (const TensorDescription& t : d.tensors) {
    CHECK(before == nullptr || before->io <= t.io);
    CHECK_EQ(t.index, before == nullptr || before->io != t.io ? 0U : before->index + 1);
    CHECK(t.shape.size() <= kMaxDims && t.origin_shape.size() <= kMaxDims);
    CHECK(t.n_elements == 0 && t.status == Status::ok);
    CHECK(t.format >= -1 && t.format <= 0xFF);
    if (payloads == Payloads::within) {
      CHECK(t.offset <= n_message && t.nbytes <= n_message - t.offset);
    }
    before = &t;
  }
}

struct Decoded {
  FileDescription description;
  std::string refused;
};

template <class Decode>
Decoded decode(Decode decode_into, Payloads payloads, std::uint64_t n_message) {
  Decoded decoded;
  try {
    decode_into(decoded.description);
    check_decoded(decoded.description, payloads, n_message);
  } catch (const FormatError& error) {
    decoded.refused = error.what();
    check_refusal(decoded.refused, error.offset(), n_message);
  }
  return decoded;
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact message(input);
  const auto from_memory = [&](Payloads payloads) {
    return decode([&](FileDescription& d) { decode_dump_data(message.bytes(), 0, payloads, d); },
                  payloads, input.size());
  };
  from_memory(Payloads::behind);
  const Decoded whole = from_memory(Payloads::within);
  for (const std::size_t n_head : {std::size_t{0}, input.size() / 2}) {
    ServedFile file(input, n_head);
    const Decoded windowed = decode([&](FileDescription& d) { decode_dump_data(file, d); },
                                    Payloads::within, input.size());
    CHECK_EQ(windowed.refused, whole.refused);
    if (whole.refused.empty()) CHECK(is_same(windowed.description, whole.description));
  }
  // Whatever can be decoded may be a message, as far as its first bytes show; an empty one is none.
  for (const std::size_t n_head : {std::size_t{12}, input.size() / 2, input.size()}) {
    if (!whole.refused.empty() || n_head > input.size() || input.empty()) continue;
    CHECK(may_be_dump_data(Exact(input.first(n_head)).bytes(), input.size()));
  }
}

std::vector<std::string> seeds() { return {full_header().bytes(), inline_seed()}; }

}  // namespace fastdump::fuzz
