// The JSON of an attribute.
#include "core/formats/json.hpp"

#include "dump_seeds.hpp"
#include "promises.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

std::optional<JsonValue> parse(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const FormatError& error) {
    check_refusal(error.what(), error.offset(), text.size());
    return std::nullopt;
  }
}

// What can be asked of a value, as text; the depth that it has.
std::string shown(const JsonValue& value, int& depth) {
  if (const auto* integer = value.integer()) return std::to_string(*integer);
  int deepest = 0;
  std::string text;
  if (const JsonArray* elements = value.array()) {
    for (std::size_t i = 0; i < elements->size(); ++i) {
      int below = 0;
      CHECK(value.at(i) == &(*elements)[i]);
      text += shown((*elements)[i], below) + ",";
      deepest = std::max(deepest, below + 1);
    }
    CHECK(value.at(elements->size()) == nullptr);
  } else if (const JsonObject* members = value.object()) {
    for (const auto& [key, member] : *members) {
      int below = 0;
      CHECK(value.find(key) != nullptr);
      text += key + ":" + shown(member, below) + ",";
      deepest = std::max(deepest, below + 1);
    }
  }
  depth = deepest;
  return "[" + text + "]";
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact text(input);
  const std::optional<JsonValue> value = parse(text.text());
  const std::string copy(text.text());
  // Blanks around a value change nothing, anything else behind it is refused.
  const auto within_blanks = parse(" \n" + copy + "\t ");
  CHECK(value.has_value() == within_blanks.has_value());
  if (!value) return;
  int depth = 0;
  const std::string found = shown(*value, depth);
  CHECK(depth <= 64);
  CHECK_EQ(shown(*within_blanks, depth), found);
  CHECK(!parse(copy + " x"));
  CHECK(!parse(copy + ","));
}

std::vector<std::string> seeds() {
  return {slices_json(), R"([1, -2.5e+3, true, false, null, "a\"\\b\u00e4", {}, []])",
          std::string(30, '[') + std::string(30, ']'), "9223372036854775808"};
}

}  // namespace fastdump::fuzz
