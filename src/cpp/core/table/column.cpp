#include "core/table/column.hpp"

#include <algorithm>
#include <cstring>

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

// Bytes before the first that is not ASCII.
std::size_t ascii_length(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t n = 0;
  for (std::uint64_t word = 0; n + sizeof word <= text.size(); n += sizeof word) {
    std::memcpy(&word, text.data() + n, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (n < text.size() && (text[n] & 0x80) == 0) ++n;
  return n;
}

void append_utf8(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  while (!text.empty()) {
    const std::size_t length = (text[0] & 0x80) == 0 ? ascii_length(text) : utf8_length(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xf]};
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace

void Bits::append(bool bit, std::size_t n) {
  if (n == 1) return append(bit);
  for (; n != 0 && size_ % 8 != 0; --n) append(bit);
  bytes_.resize(bytes_.size() + (n + 7) / 8, bit ? 0xff : 0);
  size_ += n;
  if (bit && n % 8 != 0) bytes_.back() = static_cast<std::uint8_t>((1U << n % 8) - 1);
}

void Bits::append(const Bits& other, std::size_t first, std::size_t n) {
  for (std::size_t i = first; i < first + n; ++i) append(other[i]);
}

void Bits::truncate(std::size_t n) {
  bytes_.resize((n + 7) / 8);
  size_ = n;
  // Bits are added to zeros.
  if (n % 8 != 0) bytes_.back() = static_cast<std::uint8_t>(bytes_.back() & ((1U << n % 8) - 1));
}

void Validity::truncate(std::size_t n) {
  if (n_null_ != 0) {
    bits_.truncate(n);
    n_null_ = 0;
    for (std::size_t i = 0; i < n; ++i) n_null_ += bits_[i] ? 0 : 1;
  }
  if (n_null_ == 0) bits_.truncate(0);
  size_ = n;
}

void Validity::append_valid(std::size_t n) {
  if (n_null_ != 0) bits_.append(true, n);
  size_ += n;
}

void Validity::append_nulls(std::size_t n) {
  if (n == 0) return;
  if (n_null_ == 0) begin_bits();
  bits_.append(false, n);
  size_ += n;
  n_null_ += n;
}

void Validity::append(const Validity& other, std::size_t first, std::size_t n) {
  if (other.n_null_ == 0) {
    append_valid(n);
  } else if (other.n_null_ == other.size_) {
    append_nulls(n);
  } else {
    for (std::size_t i = first; i < first + n; ++i) append(other.bits_[i]);
  }
}

void Column::append_validity(std::span<const Column* const> columns, std::span<const RowRun> runs) {
  // Most columns have no null, or nothing else.
  const auto has_none = [](const Column* column) { return column->n_null() == 0; };
  const auto has_nothing_else = [](const Column* c) { return c->n_null() == c->size(); };
  const bool none = std::ranges::all_of(columns, has_none);
  if (!none && !std::ranges::all_of(columns, has_nothing_else)) {
    for (const RowRun& run : runs) {
      validity_.append(columns[run.column]->validity_, run.first, run.n);
    }
    return;
  }
  std::size_t n = 0;
  for (const RowRun& run : runs) n += run.n;
  if (none) {
    validity_.append_valid(n);
  } else {
    validity_.append_nulls(n);
  }
}

template <>
const char* Int64Column::arrow_format() const {
  return "l";
}

template <>
const char* UInt64Column::arrow_format() const {
  return "L";
}

template <>
const char* Float64Column::arrow_format() const {
  return "g";
}

void BooleanColumn::append(std::optional<bool> value) {
  bits_.append(value.value_or(false));
  validity_.append(value.has_value());
}

void BooleanColumn::append_runs(std::span<const Column* const> columns,
                                std::span<const RowRun> runs) {
  for (const RowRun& run : runs) {
    bits_.append(static_cast<const BooleanColumn*>(columns[run.column])->bits_, run.first, run.n);
  }
  append_validity(columns, runs);
}

void BooleanColumn::truncate(std::size_t n) {
  bits_.truncate(n);
  validity_.truncate(n);
}

void TextColumn::append(std::string_view value) {
  const std::size_t n_ascii = ascii_length(value);
  bytes_.append(value.substr(0, n_ascii));
  if (n_ascii != value.size()) append_utf8(value.substr(n_ascii), bytes_);
  end_value();
}

void TextColumn::append_nulls(std::size_t n) {
  offsets_.append(offsets_.back(), n);
  validity_.append_nulls(n);
}

void TextColumn::append(std::string_view value, std::size_t n) {
  if (n == 0) return;
  const std::size_t begin = bytes_.size();
  append(value);
  const std::size_t length = bytes_.size() - begin;
  for (std::size_t i = 1; i < n; ++i) {
    bytes_.append(bytes_, begin, length);
    end_value();
  }
}

void TextColumn::append_or_null(std::string_view value, std::size_t n) {
  if (value.empty()) {
    append_nulls(n);
  } else {
    append(value, n);
  }
}

void TextColumn::reserve(std::size_t n_rows, std::size_t n_parts) {
  offsets_.reserve(n_rows, n_parts);
  bytes_.reserve(n_parts);
}

void TextColumn::append_runs(std::span<const Column* const> columns, std::span<const RowRun> runs) {
  for (const RowRun& run : runs) {
    const auto& from = *static_cast<const TextColumn*>(columns[run.column]);
    const std::size_t begin = from.offsets_[run.first];
    const std::size_t end = from.offsets_[run.first + run.n];
    offsets_.append(from.offsets_, run.first, run.n);
    bytes_.append(from.bytes_, begin, end - begin);
  }
  append_validity(columns, runs);
}

void TextColumn::truncate(std::size_t n) {
  offsets_.truncate(n);
  bytes_.resize(offsets_.back());
  validity_.truncate(n);
}

void TextColumn::end_value() {
  offsets_.append(bytes_.size());
  validity_.append(true);
}

void ListColumn::append(std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) items_.append(value);
  end_value(true);
}

void ListColumn::append_null() { end_value(false); }

void ListColumn::reserve(std::size_t n_rows, std::size_t n_parts) {
  offsets_.reserve(n_rows, n_parts);
  items_.reserve(n_parts, 0);
}

void ListColumn::append_runs(std::span<const Column* const> columns, std::span<const RowRun> runs) {
  std::vector<const Column*> items;
  for (const Column* column : columns) {
    items.push_back(&static_cast<const ListColumn*>(column)->items_);
  }
  std::vector<RowRun> item_runs;
  item_runs.reserve(runs.size());
  for (const RowRun& run : runs) {
    const auto& from = *static_cast<const ListColumn*>(columns[run.column]);
    const auto begin = static_cast<std::uint32_t>(from.offsets_[run.first]);
    const auto end = static_cast<std::uint32_t>(from.offsets_[run.first + run.n]);
    offsets_.append(from.offsets_, run.first, run.n);
    item_runs.push_back({run.column, begin, end - begin});
  }
  items_.append_runs(items, item_runs);
  append_validity(columns, runs);
}

void ListColumn::truncate(std::size_t n) {
  offsets_.truncate(n);
  items_.truncate(offsets_.back());
  validity_.truncate(n);
}

void ListColumn::end_value(bool valid) {
  offsets_.append(static_cast<std::size_t>(items_.size()));
  validity_.append(valid);
}

}  // namespace fastdump
