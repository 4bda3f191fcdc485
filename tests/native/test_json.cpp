// JSON texts: what is one, what is none, and the limits against hostile ones.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/json.hpp"
#include "mutations.hpp"
#include "standard_file.hpp"

namespace fastdump {
namespace {

using namespace tests;

// From memory that ends where the text ends.
JsonValue parse(std::string_view text) {
  const Head head(text);
  // SAFETY: char may alias any object.
  return parse_json({reinterpret_cast<const char*>(head.span().data()), head.span().size()});
}

std::int64_t integer(std::string_view text) {
  const JsonValue value = parse(text);
  CHECK(value.integer() != nullptr);
  return value.integer() == nullptr ? -999 : *value.integer();
}

bool is_refused(std::string_view text) {
  return error_of([&] { parse(text); }).has_value();
}

void test_integers() {
  CHECK_EQ(integer("0"), 0);
  CHECK_EQ(integer(" \t\r\n42\n "), 42);
  CHECK_EQ(integer("-17"), -17);
  CHECK_EQ(integer("9223372036854775807"), INT64_MAX);
  CHECK_EQ(integer("-9223372036854775808"), INT64_MIN);
}

void test_numbers_that_are_no_integers() {
  for (const char* text : {"1.0", "-0.5", "1e3", "1E-3", "2.5e+3", "9223372036854775808",
                           "-9223372036854775809", "1e999", "100000000000000000000000000"}) {
    const JsonValue value = parse(text);
    CHECK(value.integer() == nullptr && value.array() == nullptr && value.object() == nullptr);
  }
}

void test_objects_and_arrays() {
  const JsonValue value =
      parse(R"( {"a": [1, [2, 3], {}], "b": {"lower": 4, "higher": 5}, "c": "x", "": []} )");
  CHECK(value.object() != nullptr && value.array() == nullptr && value.integer() == nullptr);
  CHECK_EQ(value.object()->size(), 4U);
  const JsonValue* a = value.find("a");
  CHECK(a != nullptr && a->array() != nullptr && a->array()->size() == 3);
  CHECK_EQ(*a->at(0)->integer(), 1);
  CHECK_EQ(*a->at(1)->at(1)->integer(), 3);
  CHECK(a->at(2)->object() != nullptr && a->at(2)->object()->empty());
  CHECK(a->at(3) == nullptr && a->at(SIZE_MAX) == nullptr && a->find("a") == nullptr);
  CHECK_EQ(*value.find("b")->find("higher")->integer(), 5);
  CHECK(value.find("c")->find("x") == nullptr && value.find("c")->at(0) == nullptr);
  CHECK(value.find("")->array()->empty());
  CHECK(value.find("d") == nullptr && value.at(0) == nullptr);
}

void test_strings_and_words() {
  CHECK(parse(R"({"a\"]}b": 1})").find("a\\\"]}b") != nullptr);
  CHECK(parse(R"({"a\\": 1})").find("a\\\\") != nullptr);
  CHECK(parse("{\"\xff\xe6\": 1}").find("\xff\xe6") != nullptr);
  for (const char* text : {"true", "false", "null", "\"\"", "\"text\"", "[]", "{}", "[null]"}) {
    CHECK(parse(text).integer() == nullptr);
  }
}

void test_what_is_no_json() {
  for (const char* text :
       {"",      " ",     "{",         "}",        "[",       "]",        "[1",        "[1,",
        "[1,]",  "[,1]",  "[1 2]",     "{\"a\"",   "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
        "{a:1}", "{1:2}", "{\"a\" 1}", "[1]]",     "1 2",     "\"",       "\"\\",      "\"\\\"",
        "tr",    "nulls", "True",      "'a'",      "-",       "+1",       ".5",        "nan",
        "inf",   "-inf",  "Infinity",  "-nan",     "NaN",     "0x10",     "1..2",      "1e",
        "--1",   "1-2",   "e5",        "user_tag", "\xff",    "[1}",      "{\"a\":1]"}) {
    if (!is_refused(text)) std::cerr << "taken for JSON: " << text << "\n";
    CHECK(is_refused(text));
  }
  CHECK(is_refused(std::string_view("[1]\0", 4)));
  CHECK(is_refused(std::string_view("\0", 1)));
  CHECK_REFUSED(parse("{\"a\": [1, 2}"), "JSON: expected ',' or ']' at character 11", 11);
  CHECK_REFUSED(parse("[1] x"), "JSON: expected the end at character 4", 4);
  CHECK_REFUSED(parse("[\"\\"), "JSON: expected the end of a string at character 3", 3);
}

void test_limits() {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(parse(nested(33)).array() != nullptr);
  CHECK(is_refused(nested(34)));
  CHECK(is_refused(nested(1000000)));
  CHECK(is_refused(std::string(1000000, '[')));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(is_refused(objects));

  // A value takes more memory than its text.
  const auto zeros = [](std::size_t n) {
    std::string text = "[0";
    for (std::size_t i = 1; i < n; ++i) text += ",0";
    return text + "]";
  };
  CHECK_EQ(parse(zeros(kMaxJsonValues - 1)).array()->size(), kMaxJsonValues - 1);
  CHECK(is_refused(zeros(kMaxJsonValues)));
  CHECK(is_refused(zeros(20000000)));
}

void test_any_bytes() {
  const std::string text =
      R"({"threadMode": 1, "ok": true, "x": [-1.5e3, null, "a\"b"], "in": [[{"lower":0}]]})";
  int n_values = 0;
  const auto check = [&](std::string_view bytes) {
    try {
      parse(bytes);
      ++n_values;
    } catch (const FormatError& error) {
      CHECK(error.offset() <= bytes.size() + 1);  // an escape may be the last character
    }
  };
  for_every_prefix(text, check);
  CHECK_EQ(n_values, 1);
  for_every_changed_byte(text, text.size(), check);
  for_many_changes(text, text.size(), 20000, check);
  CHECK(n_values > 1000 / kChangesStep);
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_integers();
  test_numbers_that_are_no_integers();
  test_objects_and_arrays();
  test_strings_and_words();
  test_what_is_no_json();
  test_limits();
  test_any_bytes();
  return tests::exit_code();
}
