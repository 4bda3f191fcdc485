#include "core/arrays/reduce_file.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/arrays/reduce_tensor.hpp"
#include "core/errors.hpp"
#include "core/io/file.hpp"
#include "core/size.hpp"

namespace fastdump {

std::optional<kernels::Statistics> reduce_file(const std::string& path, FileState expected,
                                               kernels::Element element, std::uint64_t offset,
                                               std::uint64_t n_elements, kernels::Level level,
                                               Engine engine, int threads,
                                               const std::function<bool()>& go_on) {
  OpenFile open(path, expected);
  const std::uint64_t nbytes = packed_nbytes(n_elements, kernels::element_bits(element));
  if (nbytes > open.size - std::min(offset, open.size)) {
    throw FormatError("the file ends at byte " + std::to_string(open.size) + ", before the " +
                          std::to_string(nbytes) + " bytes that began at byte " +
                          std::to_string(offset),
                      open.size);
  }
  const auto source = std::make_shared<Source>(std::move(open.file), open.state, open.size);
  const auto result =
      reduce_tensor(source, {element, offset, n_elements}, level, engine, threads, go_on);
  if (!result) return std::nullopt;
  if (result->missing.error != 0) throw SystemError(result->missing.error, path);
  const int problem = source->check_state();
  if (problem > 0) throw SystemError(problem, path);
  if (problem != 0 || result->missing.n != 0) throw FileChangedError(kChangedWhileRead);
  return result->statistics;
}

}  // namespace fastdump
