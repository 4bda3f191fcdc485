#include <deque>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/without_gil.hpp"
#include "core/arrays/copies.hpp"

namespace fastdump::bindings {
namespace {

void copy_buffers(const std::vector<std::pair<py::object, py::object>>& copies, int threads) {
  check_threads(threads);
  std::deque<ContiguousBuffer> buffers;  // no vector: a buffer cannot be moved
  std::vector<Copy> found;
  for (const auto& [from, to] : copies) {
    const ContiguousBuffer& source = buffers.emplace_back(from);
    const ContiguousBuffer& target = buffers.emplace_back(to, ContiguousBuffer::Access::write);
    target.check_nbytes("a target", source.nbytes());
    found.push_back({source.data(), target.data(), source.nbytes()});
  }
  // GIL: all buffers keep their memory.
  const WithoutGil released;
  make_copies(found, threads);
}

}  // namespace

void bind_copy(py::module_& module) {
  module.def("copy", &copy_buffers, py::arg("copies"), py::arg("threads"),
             "Copy the bytes of the first buffer of each pair to the start of the second.");
}

}  // namespace fastdump::bindings
