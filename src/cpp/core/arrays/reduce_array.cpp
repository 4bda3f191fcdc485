#include "core/arrays/reduce_array.hpp"

#include <cstdint>
#include <memory>
#include <span>

#include "core/active_tier.hpp"
#include "core/arrays/reduce_tensor.hpp"
#include "core/errors.hpp"
#include "core/io/page_guard.hpp"
#include "core/size.hpp"

namespace fastdump {

kernels::Statistics reduce_array(kernels::Element element, kernels::Level level,
                                 const std::byte* data, std::size_t n, int threads) {
  install_page_guard();
  const std::uint64_t nbytes = packed_nbytes(n, kernels::element_bits(element));
  const auto source = std::make_shared<Source>(std::span(data, static_cast<std::size_t>(nbytes)));
  const auto always = [] { return true; };
  const auto result =
      reduce_tensor(source, {element, 0, n}, level, Engine::automatic, threads, always);
  if (source->check_state() != 0) throw FileChangedError(kLostMemory);
  return *result->statistics;
}

}  // namespace fastdump
