#include "core/environment.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/decimal.hpp"

namespace fastdump {

std::optional<std::int64_t> number_in_environment(const char* name, std::int64_t least,
                                                  std::int64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const auto number = parse_decimal(text);
  if (number && *number >= least && *number <= most) return number;
  throw std::invalid_argument(std::string(name) + " is \"" + text +
                              "\"; it must be a number from " + std::to_string(least) + " to " +
                              std::to_string(most));
}

}  // namespace fastdump
