#include "core/note.hpp"

#include <algorithm>

namespace fastdump {
namespace {

constexpr std::string_view kSeparator = "; ";
constexpr std::string_view kCut = " ... (what follows is left out)";

constexpr std::size_t kMaxQuotedNbytes = 40;

}  // namespace

void Note::append(std::string_view statement) {
  const bool is_cut = text_.size() > kMaxNbytes;
  if (is_cut) return;
  if (!text_.empty()) text_ += kSeparator;
  const std::size_t room = kMaxNbytes - std::min(text_.size(), kMaxNbytes);
  text_ += statement.substr(0, room);
  if (statement.size() > room) text_ += kCut;
}

std::string quoted(std::string_view text, char quote) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string shown(1, quote);
  for (const char c : text.substr(0, kMaxQuotedNbytes)) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      shown += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xF]};
    }
  }
  if (text.size() > kMaxQuotedNbytes) shown += "...";
  return shown += quote;
}

}  // namespace fastdump
