// Patterns for names, against a matcher that tries everything.
#include "core/tree/selection.hpp"

#include "core/tree/glob.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

// A pattern of stars, question marks and characters that stand for themselves.
bool matches_slowly(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  const char first = pattern.front();
  pattern.remove_prefix(1);
  if (first == '*') {
    for (std::size_t n = 0; n <= text.size(); ++n) {
      if (matches_slowly(pattern, text.substr(n))) return true;
    }
    return false;
  }
  if (text.empty() || (first != '?' && first != text.front())) return false;
  return matches_slowly(pattern, text.substr(1));
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Exact memory(input);
  const std::string_view text = memory.text();
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string pattern(text.substr(0, end));
  const std::string name(text.substr(std::min(end + 1, text.size())));
  // Patterns are the user's: that many stars take long is nobody's attack.
  if (std::ranges::count(pattern, '*') > 4 || name.size() > 64) return;
  const bool matches = matches_any({pattern}, name);
  const OpNamePatterns wanted = {pattern};
  CHECK_EQ(wanted.match(name), wanted.match(as_in_file_name(name)));
  CHECK(!wanted.match(""));
  Selection selection;
  selection.op_type = {pattern};
  CHECK_EQ(selection.has_op_type(name), matches && !name.empty());
  if (!is_ascii(pattern) || !is_ascii(name)) return;
  if (pattern.find_first_of("[\\") != std::string::npos) return;
  CHECK_EQ(matches, matches_slowly(pattern, name));
  CHECK_EQ(wanted.match(name),
           !name.empty() && matches_slowly(as_in_file_name(pattern), as_in_file_name(name)));
}

std::vector<std::string> seeds() {
  return {"layers.*/Mat?ul*\nlayers_3_MatMul_1",
          "[a-c]*[!x]\nbcd",
          "a\\*b\na*b",
          "\\",
          "*\n",
          "a.b/c\na_b_c"};
}

}  // namespace fastdump::fuzz
