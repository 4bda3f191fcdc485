// Columns of a table: typed, growing, nullable, laid out in memory as Apache Arrow lays them out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/table/offsets.hpp"
#include "core/table/zeros.hpp"

namespace fastdump {

// Bits, least significant first.
class Bits {
 public:
  void append(bool bit) {
    if (size_ % 8 == 0) bytes_.push_back(0);
    if (bit) bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | 1U << size_ % 8);
    ++size_;
  }
  void append(bool bit, std::size_t n);
  // Bits [first, first + n) of others.
  void append(const Bits& other, std::size_t first, std::size_t n);
  void reserve(std::size_t n) { bytes_.reserve((n + 7) / 8); }
  void truncate(std::size_t n);
  const std::uint8_t* data() const { return bytes_.data(); }
  bool operator[](std::size_t i) const { return (bytes_[i / 8] >> i % 8 & 1) != 0; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
};

// One bit an element; no buffer at all while nothing is null.
class Validity {
 public:
  void append(bool valid) {
    if (!valid && n_null_ == 0) begin_bits();
    if (!valid || n_null_ != 0) bits_.append(valid);
    n_null_ += valid ? 0 : 1;
    ++size_;
  }
  void append_valid(std::size_t n);
  void append_nulls(std::size_t n);
  // Elements [first, first + n) of another.
  void append(const Validity& other, std::size_t first, std::size_t n);
  void truncate(std::size_t n);
  const void* data() const { return n_null_ == 0 ? nullptr : bits_.data(); }
  bool operator[](std::size_t i) const { return n_null_ == 0 || bits_[i]; }
  std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  std::int64_t n_null() const { return static_cast<std::int64_t>(n_null_); }

 private:
  // Everything so far is valid.
  void begin_bits() { bits_.append(true, size_); }

  Bits bits_;  // empty while nothing is null
  std::size_t size_ = 0;
  std::size_t n_null_ = 0;
};

// Rows [first, first + n) of one of several columns.
struct RowRun {
  std::uint32_t column;
  std::uint32_t first;
  std::uint32_t n;
};

class Column {
 public:
  virtual ~Column() = default;
  virtual const char* arrow_format() const = 0;
  // Buffers in Arrow's order, the validity first.
  virtual std::vector<const void*> buffers() const = 0;
  virtual const Column* child() const { return nullptr; }

  std::int64_t size() const { return validity_.size(); }
  std::int64_t n_null() const { return validity_.n_null(); }

  // What the rows are made of where they differ in length: bytes of text, items of lists.
  virtual std::size_t n_parts() const { return 0; }
  virtual void reserve(std::size_t n_rows, std::size_t n_parts) = 0;
  // Rows of columns of the same type as this one.
  virtual void append_runs(std::span<const Column* const> columns,
                           std::span<const RowRun> runs) = 0;
  // Only the first n rows stay. After an append that has thrown, too: then the rows from there on
  // mean nothing until they are cut off. Never throws.
  virtual void truncate(std::size_t n) = 0;

 protected:
  void append_validity(std::span<const Column* const> columns, std::span<const RowRun> runs);

  Validity validity_;
};

// Numbers, which take no memory while all of them are null or 0: many columns never have others.
template <class Value>
class NumberColumn final : public Column {
 public:
  void append(std::optional<Value> value) {
    if (has_values() || !is_zero(value)) {
      begin_values();
      values_.push_back(value.value_or(Value{}));
    }
    validity_.append(value.has_value());
  }
  // The same value, n times.
  void append(std::optional<Value> value, std::size_t n) {
    if (has_values() || !is_zero(value)) {
      begin_values();
      values_.insert(values_.end(), n, value.value_or(Value{}));
    }
    if (value) {
      validity_.append_valid(n);
    } else {
      validity_.append_nulls(n);
    }
  }
  std::optional<Value> operator[](std::size_t i) const {
    if (!validity_[i]) return std::nullopt;
    return has_values() ? values_[i] : Value{};
  }
  const char* arrow_format() const override;
  std::vector<const void*> buffers() const override {
    const void* const values =
        has_values() ? values_.data() : zeros(static_cast<std::size_t>(size()) * sizeof(Value));
    return {validity_.data(), values};
  }
  void reserve(std::size_t n_rows, std::size_t) override {
    n_reserved_ = n_rows;
    if (has_values()) values_.reserve(n_rows);
  }
  void append_runs(std::span<const Column* const> columns, std::span<const RowRun> runs) override {
    const auto of = [&](const RowRun& run) -> const NumberColumn& {
      return *static_cast<const NumberColumn*>(columns[run.column]);
    };
    if (has_values() ||
        std::ranges::any_of(runs, [&](const RowRun& run) { return of(run).has_values(); })) {
      begin_values();
      for (const RowRun& run : runs) {
        if (of(run).has_values()) {
          const Value* begin = of(run).values_.data() + run.first;
          values_.insert(values_.end(), begin, begin + run.n);
        } else {
          values_.insert(values_.end(), run.n, Value{});
        }
      }
    }
    append_validity(columns, runs);
  }
  void truncate(std::size_t n) override {
    if (has_values()) values_.resize(n);
    validity_.truncate(n);
  }

 private:
  bool has_values() const { return !values_.empty(); }
  // Zero to the last bit, which -0.0 is not.
  static bool is_zero(std::optional<Value> value) {
    return std::bit_cast<std::uint64_t>(value.value_or(Value{})) == 0;
  }
  // Gives the zeros so far their memory.
  void begin_values() {
    if (has_values()) return;
    const auto n = static_cast<std::size_t>(size());
    values_.reserve(std::max(n_reserved_, n));
    values_.resize(n);
  }

  std::size_t n_reserved_ = 0;
  std::vector<Value> values_;  // empty while all of them are null or 0
};

using Int64Column = NumberColumn<std::int64_t>;
using UInt64Column = NumberColumn<std::uint64_t>;
using Float64Column = NumberColumn<double>;
template <>
const char* Int64Column::arrow_format() const;
template <>
const char* UInt64Column::arrow_format() const;
template <>
const char* Float64Column::arrow_format() const;

class BooleanColumn final : public Column {
 public:
  void append(std::optional<bool> value);
  const char* arrow_format() const override { return "b"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), bits_.data()}; }
  void reserve(std::size_t n_rows, std::size_t) override { bits_.reserve(n_rows); }
  void append_runs(std::span<const Column* const> columns, std::span<const RowRun> runs) override;
  void truncate(std::size_t n) override;

 private:
  Bits bits_;
};

class TextColumn final : public Column {
 public:
  TextColumn() = default;
  // See Offsets.
  explicit TextColumn(std::size_t max_narrow) : offsets_(max_narrow) {}

  // Bytes that are not UTF-8 are written as \xNN: a table holds text.
  void append(std::string_view value);
  // The same text, n times.
  void append(std::string_view value, std::size_t n);
  void append_null() { append_nulls(1); }
  // Null for empty text.
  void append_or_null(std::string_view value, std::size_t n = 1);
  const char* arrow_format() const override { return offsets_.is_wide() ? "U" : "u"; }
  std::vector<const void*> buffers() const override {
    return {validity_.data(), offsets_.data(), bytes_.data()};
  }
  std::size_t n_parts() const override { return bytes_.size(); }
  void reserve(std::size_t n_rows, std::size_t n_parts) override;
  void append_runs(std::span<const Column* const> columns, std::span<const RowRun> runs) override;
  void truncate(std::size_t n) override;

 private:
  void append_nulls(std::size_t n);
  void end_value();

  Offsets offsets_;
  std::string bytes_;
};

// Lists of int64.
class ListColumn final : public Column {
 public:
  ListColumn() = default;
  // See Offsets.
  explicit ListColumn(std::size_t max_narrow) : offsets_(max_narrow) {}

  void append(std::span<const std::int64_t> values);
  void append_null();
  const char* arrow_format() const override { return offsets_.is_wide() ? "+L" : "+l"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), offsets_.data()}; }
  const Column* child() const override { return &items_; }
  std::size_t n_parts() const override { return static_cast<std::size_t>(items_.size()); }
  void reserve(std::size_t n_rows, std::size_t n_parts) override;
  void append_runs(std::span<const Column* const> columns, std::span<const RowRun> runs) override;
  void truncate(std::size_t n) override;

 private:
  void end_value(bool valid);

  Offsets offsets_;
  Int64Column items_;
};

}  // namespace fastdump
