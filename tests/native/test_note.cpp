// Notes: statements one after the other, and never more memory than is promised.
#include <string>

#include "check.hpp"
#include "core/note.hpp"

namespace fastdump {
namespace {

void test_statements() {
  Note note;
  CHECK(note.empty());
  note.add("");
  CHECK(note.empty());
  note.add("one");
  CHECK_EQ(note.text(), "one");
  note.add("");
  note.add(Note("two"));
  CHECK_EQ(note.text(), "one; two");
  note.clear();
  CHECK(note.empty());
}

void test_what_is_too_long_is_left_out() {
  const std::string cut = " ... (what follows is left out)";
  const std::string longest(Note::kMaxNbytes, 'x');
  Note note(longest);
  CHECK_EQ(note.text(), longest);
  note.add("more");
  CHECK_EQ(note.text(), longest + "; " + cut);
  Note early(longest + "x");
  CHECK_EQ(early.text(), longest + cut);
  for (int i = 0; i < 3; ++i) early.add(longest);
  CHECK_EQ(early.text(), longest + cut);
  Note many;
  for (int i = 0; i < 100000; ++i) many.add("statement");
  CHECK(many.text().size() < Note::kMaxNbytes + 50);
  CHECK(many.text().ends_with(cut));
}

void test_quoted_text() {
  CHECK_EQ(quoted("abc"), "\"abc\"");
  CHECK_EQ(quoted("a\n\xff", '\''), "'a\\x0a\\xff'");
  CHECK_EQ(quoted(std::string(40, 'x')), "\"" + std::string(40, 'x') + "\"");
  CHECK_EQ(quoted(std::string(41, 'x')), "\"" + std::string(40, 'x') + "...\"");
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_statements();
  fastdump::test_what_is_too_long_is_left_out();
  fastdump::test_quoted_text();
  return fastdump::tests::exit_code();
}
