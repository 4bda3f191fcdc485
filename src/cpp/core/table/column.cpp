#include "core/table/column.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace fastdump {
namespace {

// Bytes of the UTF-8 sequence, longer than one, that text begins with; 0 if it begins with none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Over-long forms, surrogates and what lies beyond U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

void append_utf8(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  while (!text.empty()) {
    const auto other = std::ranges::find_if(text, [](char c) { return (c & 0x80) != 0; });
    const auto n_ascii = static_cast<std::size_t>(other - text.begin());
    out.append(text.substr(0, n_ascii));
    text.remove_prefix(n_ascii);
    if (text.empty()) return;
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xf]};
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

std::int32_t checked_offset(std::size_t offset) {
  if (offset > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::length_error(
        "a column of this table is larger than 2 GiB: scan fewer files at a time");
  }
  return static_cast<std::int32_t>(offset);
}

// The bit after `size` others.
void append_bit(std::vector<std::uint8_t>& bits, std::int64_t size, bool bit) {
  if (size % 8 == 0) bits.push_back(0);
  if (bit) bits.back() = static_cast<std::uint8_t>(bits.back() | 1 << size % 8);
}

}  // namespace

void Validity::append(bool valid) {
  append_bit(bits_, size_, valid);
  if (!valid) ++n_null_;
  ++size_;
}

void Int64Column::append(std::optional<std::int64_t> value) {
  values_.push_back(value.value_or(0));
  validity_.append(value.has_value());
}

void UInt64Column::append(std::optional<std::uint64_t> value) {
  values_.push_back(value.value_or(0));
  validity_.append(value.has_value());
}

void BooleanColumn::append(std::optional<bool> value) {
  append_bit(bits_, validity_.size(), value.value_or(false));
  validity_.append(value.has_value());
}

void Float64Column::append(std::optional<double> value) {
  values_.push_back(value.value_or(0));
  validity_.append(value.has_value());
}

void TextColumn::append(std::string_view value) {
  append_utf8(value, bytes_);
  end_value(true);
}

void TextColumn::append_null() { end_value(false); }

void TextColumn::append_or_null(std::string_view value) {
  if (value.empty()) {
    append_null();
  } else {
    append(value);
  }
}

void TextColumn::end_value(bool valid) {
  offsets_.push_back(checked_offset(bytes_.size()));
  validity_.append(valid);
}

void ListColumn::append(std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) items_.append(value);
  end_value(true);
}

void ListColumn::append_null() { end_value(false); }

void ListColumn::end_value(bool valid) {
  offsets_.push_back(checked_offset(static_cast<std::size_t>(items_.size())));
  validity_.append(valid);
}

}  // namespace fastdump
