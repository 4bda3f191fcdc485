// What there is to say about a row, in words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fastdump {

// Statements, separated by "; ". A note never takes more memory than kMaxNbytes and a few, whatever
// it is given: what goes beyond is left out, and the note says so.
class Note {
 public:
  static constexpr std::size_t kMaxNbytes = 4096;

  Note() = default;
  explicit Note(std::string_view statement) { add(statement); }

  // An empty statement says nothing.
  void add(std::string_view statement) {
    if (!statement.empty()) append(statement);
  }
  void add(const Note& statements) { add(statements.text()); }
  void clear() { text_.clear(); }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  void append(std::string_view statement);

  std::string text_;
};

// Text from a file, of any bytes and any length, as messages show it: in quotes, short, and ASCII.
std::string quoted(std::string_view text, char quote = '"');

}  // namespace fastdump
