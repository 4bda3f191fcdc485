#include "core/formats/layer_number.hpp"

#include <array>

namespace fastdump {
namespace {

constexpr std::string_view kSeparators = " ./\\_-";
// The longer of two words that begin alike comes first.
constexpr std::array<std::string_view, 11> kWords = {
    "layers", "layer", "blocks", "block",   "h",       "stages",
    "stage",  "cells", "cell",   "encoder", "decoder",
};
// More digits are no number of a layer, and might not fit 64 bits.
constexpr std::size_t kMaxDigits = 9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_separator(char c) { return kSeparators.find(c) != std::string_view::npos; }

// Of the digits at `begin`, if there are any.
std::optional<LayerNumber> number_at(std::string_view name, std::size_t begin) {
  LayerNumber found{0, begin, begin};
  while (found.end < name.size() && is_digit(name[found.end])) {
    if (found.end - begin == kMaxDigits) return std::nullopt;
    found.number = found.number * 10 + (name[found.end] - '0');
    ++found.end;
  }
  return found.end == begin ? std::nullopt : std::optional(found);
}

std::optional<LayerNumber> number_of_part(std::string_view name, std::size_t begin) {
  for (const std::string_view word : kWords) {
    if (name.substr(begin, word.size()) != word) continue;
    std::size_t digits = begin + word.size();
    if (digits < name.size() && is_separator(name[digits])) ++digits;
    if (const auto found = number_at(name, digits)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LayerNumber> find_layer_number(std::string_view op_name) {
  for (std::size_t i = 0; i < op_name.size(); ++i) {
    if (i > 0 && !is_separator(op_name[i - 1])) continue;
    if (const auto found = number_of_part(op_name, i)) return found;
  }
  return std::nullopt;
}

}  // namespace fastdump
