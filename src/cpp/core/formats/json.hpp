// JSON texts within headers, as values. Bounded in depth and in number; what is no JSON is a
// FormatError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fastdump {

class JsonValue;
using JsonArray = std::vector<JsonValue>;
using JsonObject = std::vector<std::pair<std::string, JsonValue>>;

class JsonValue {
 public:
  JsonValue() = default;
  explicit JsonValue(bool value) : value_(value) {}
  explicit JsonValue(std::int64_t value) : value_(value) {}
  explicit JsonValue(std::string value) : value_(std::move(value)) {}
  explicit JsonValue(JsonArray value) : value_(std::move(value)) {}
  explicit JsonValue(JsonObject value) : value_(std::move(value)) {}

  // Each is nullptr if the value is something else; numbers that are no 64-bit integers are.
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value_); }
  const JsonArray* array() const { return std::get_if<JsonArray>(&value_); }
  const JsonObject* object() const { return std::get_if<JsonObject>(&value_); }

  // The member of an object; nullptr if there is none, or this is no object.
  const JsonValue* find(std::string_view key) const;
  // The element of an array; nullptr if there is none, or this is no array.
  const JsonValue* at(std::size_t index) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::string, JsonArray, JsonObject> value_;
};

// Against hostile texts: a value takes some twenty times the memory of its text.
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 19;

// `text` is one JSON value and nothing else.
JsonValue parse_json(std::string_view text);

}  // namespace fastdump
