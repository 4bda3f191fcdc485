#include "core/tree/skipped_files.hpp"

namespace fastdump {

void count_skipped(SkippedFiles& skipped, std::string_view reason) {
  auto found = skipped.find(reason);
  if (found == skipped.end()) found = skipped.emplace(reason, 0).first;
  ++found->second;
}

void add_skipped(SkippedFiles& skipped, const SkippedFiles& more) {
  for (const auto& [reason, n] : more) skipped[reason] += n;
}

}  // namespace fastdump
