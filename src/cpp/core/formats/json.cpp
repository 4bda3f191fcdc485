#include "core/formats/json.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/errors.hpp"

namespace fastdump {
namespace {

constexpr int kMaxDepth = 32;

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  JsonValue parse() {
    JsonValue value = read_value(0);
    skip_blanks();
    if (at_ != text_.size()) fail("the end");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw FormatError(
        "JSON: expected " + std::string(expected) + " at character " + std::to_string(at_), at_);
  }

  // '\0' at the end; a JSON text has none elsewhere but within strings.
  char next() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  JsonValue read_value(int depth) {
    if (depth > kMaxDepth) fail("a value that is not nested so deeply");
    if (++n_values_ > kMaxJsonValues) fail("fewer values");
    switch (next()) {
      case '{':
        return read_object(depth);
      case '[':
        return read_array(depth);
      case '"':
        return JsonValue(read_string());
      default:
        break;
    }
    if (take_word("true")) return JsonValue(true);
    if (take_word("false")) return JsonValue(false);
    if (take_word("null")) return {};
    return read_number();
  }

  JsonValue read_object(int depth) {
    JsonObject members;
    take('{');
    if (take('}')) return JsonValue(std::move(members));
    do {
      if (next() != '"') fail("a key");
      std::string key = read_string();
      if (!take(':')) fail("':'");
      members.emplace_back(std::move(key), read_value(depth + 1));
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    return JsonValue(std::move(members));
  }

  JsonValue read_array(int depth) {
    JsonArray elements;
    take('[');
    if (take(']')) return JsonValue(std::move(elements));
    do {
      elements.push_back(read_value(depth + 1));
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
    return JsonValue(std::move(elements));
  }

  // Escapes stay as they are written: no key that anybody looks for has one.
  std::string read_string() {
    const std::size_t begin = ++at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') return std::string(text_.substr(begin, at_++ - begin));
      if (text_[at_] == '\\') ++at_;
    }
    at_ = text_.size();  // a backslash that ends the text escapes nothing
    fail("the end of a string");
  }

  bool take_any_of(std::string_view characters) {
    if (at_ == text_.size() || characters.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  void take_digits(std::string_view expected) {
    constexpr std::string_view kDigits = "0123456789";
    if (!take_any_of(kDigits)) fail(expected);
    at_ = std::min(text_.find_first_not_of(kDigits, at_), text_.size());
  }

  JsonValue read_number() {
    const std::size_t begin = at_;
    take_any_of("-");
    take_digits("a value");
    const std::size_t integer_end = at_;
    if (take_any_of(".")) take_digits("a digit");
    if (take_any_of("eE")) {
      take_any_of("+-");
      take_digits("a digit");
    }
    std::int64_t integer = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + begin, text_.data() + integer_end, integer);
    const bool is_integer = error == std::errc{} && at_ == integer_end;
    return is_integer ? JsonValue(integer) : JsonValue();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t n_values_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const JsonObject* members = object();
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(
      *members, key, [](const auto& member) -> std::string_view { return member.first; });
  return found == members->end() ? nullptr : &found->second;
}

const JsonValue* JsonValue::at(std::size_t index) const {
  const JsonArray* elements = array();
  return elements != nullptr && index < elements->size() ? &(*elements)[index] : nullptr;
}

JsonValue parse_json(std::string_view text) { return JsonParser(text).parse(); }

}  // namespace fastdump
