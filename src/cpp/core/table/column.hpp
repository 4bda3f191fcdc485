// Columns of a table: typed, growing, nullable, laid out in memory as Apache Arrow lays them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fastdump {

// One bit an element, least significant first; no buffer at all while nothing is null.
class Validity {
 public:
  void append(bool valid);
  const void* data() const { return n_null_ == 0 ? nullptr : bits_.data(); }
  std::int64_t size() const { return size_; }
  std::int64_t n_null() const { return n_null_; }

 private:
  std::vector<std::uint8_t> bits_;
  std::int64_t size_ = 0;
  std::int64_t n_null_ = 0;
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

 protected:
  Validity validity_;
};

class Int64Column final : public Column {
 public:
  void append(std::optional<std::int64_t> value);
  const char* arrow_format() const override { return "l"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), values_.data()}; }

 private:
  std::vector<std::int64_t> values_;
};

class UInt64Column final : public Column {
 public:
  void append(std::optional<std::uint64_t> value);
  const char* arrow_format() const override { return "L"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), values_.data()}; }

 private:
  std::vector<std::uint64_t> values_;
};

class BooleanColumn final : public Column {
 public:
  void append(std::optional<bool> value);
  const char* arrow_format() const override { return "b"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), bits_.data()}; }

 private:
  std::vector<std::uint8_t> bits_;  // as Validity has them
};

class Float64Column final : public Column {
 public:
  void append(std::optional<double> value);
  const char* arrow_format() const override { return "g"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), values_.data()}; }

 private:
  std::vector<double> values_;
};

class TextColumn final : public Column {
 public:
  // Bytes that are not UTF-8 are written as \xNN: a table holds text. Throws std::length_error past
  // 2 GiB.
  void append(std::string_view value);
  void append_null();
  // Null for empty text.
  void append_or_null(std::string_view value);
  const char* arrow_format() const override { return "u"; }
  std::vector<const void*> buffers() const override {
    return {validity_.data(), offsets_.data(), bytes_.data()};
  }

 private:
  void end_value(bool valid);

  std::vector<std::int32_t> offsets_ = {0};
  std::string bytes_;
};

// Lists of int64.
class ListColumn final : public Column {
 public:
  void append(std::span<const std::int64_t> values);
  void append_null();
  const char* arrow_format() const override { return "+l"; }
  std::vector<const void*> buffers() const override { return {validity_.data(), offsets_.data()}; }
  const Column* child() const override { return &items_; }

 private:
  void end_value(bool valid);

  std::vector<std::int32_t> offsets_ = {0};
  Int64Column items_;
};

}  // namespace fastdump
