#include "core/io/new_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/io/descriptors.hpp"
#include "core/io/system.hpp"

namespace fastdump {

NewFile::NewFile(int directory, std::uint64_t number) : directory_(directory) {
  std::snprintf(temporary_.data(), temporary_.size(), ".fastdump-%016llx.part",
                static_cast<unsigned long long>(number));
  const int created =
      retry_interrupted([&] { return system().create(directory_, temporary_.data()); });
  if (created < 0) {
    error_ = -created;
    return;
  }
  descriptor_ = created;
  is_there_ = true;
  count_opened_descriptor();
}

NewFile::~NewFile() {
  close();
  if (is_there_) system().remove(directory_, temporary_.data());
}

int NewFile::write(std::span<const std::byte> head, std::span<const std::byte> rest) {
  while (!head.empty() || !rest.empty()) {
    const std::int64_t n =
        retry_interrupted([&] { return system().write(descriptor_, head, rest); });
    if (n < 0) return static_cast<int>(-n);
    if (n == 0) return EIO;
    const std::size_t of_head = std::min(static_cast<std::size_t>(n), head.size());
    head = head.subspan(of_head);
    rest = rest.subspan(static_cast<std::size_t>(n) - of_head);
  }
  return 0;
}

int NewFile::finish(const char* name) {
  // Some file systems tell only now that the disk is full.
  if (const int error = close(); error != 0) return error;
  const int renamed =
      retry_interrupted([&] { return system().rename(directory_, temporary_.data(), name); });
  if (renamed == 0) is_there_ = false;
  return -renamed;
}

int NewFile::close() {
  if (descriptor_ == kClosed) return 0;
  count_closed_descriptor();
  return -system().close(std::exchange(descriptor_, kClosed));
}

}  // namespace fastdump
