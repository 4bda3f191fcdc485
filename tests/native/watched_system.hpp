// The system's files, with a test looking on: it sees every call before it is made, may let it
// fail, cut a read short, or do something to the file meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "core/io/system.hpp"

namespace fastdump::tests {

enum class Call : std::uint8_t {
  open,
  status,
  status_of_path,
  read,
  is_on_network,
  map,
  unmap,
  drop_pages,
  open_directory,
  next_entry,
  resolve,
  open_own,
  make_directory,
  create,
  write,
  close,
  rename,
  remove,
};

class WatchedSystem : public System {
 public:
  static constexpr std::int64_t kNowNs = 1'700'000'000'000'000'000;

  // What is to become of a call.
  struct Verdict {
    int error = 0;                      // it fails with this errno
    std::size_t max_nbytes = SIZE_MAX;  // a read gives no more than this
  };
  // Gets the call and its number, from 0. Several threads may call it at the same time.
  using Watch = std::function<Verdict(Call call, std::size_t number)>;

  explicit WatchedSystem(Watch watch) : watch_(std::move(watch)), replacement_(*this) {}
  // Gets the real status of a file, and returns when the test last wrote to it, in nanoseconds.
  using Writes = std::function<std::int64_t(const FileStatus& status)>;
  // Files have these times instead of those of the file system, whose clock ticks too slowly. For
  // everybody else it is kNowNs all the time.
  WatchedSystem(Watch watch, Writes writes)
      : watch_(std::move(watch)), writes_(std::move(writes)), replacement_(*this) {}

  std::size_t n_calls() const { return n_calls_; }

  int open(int directory, const char* path, OpenAs as) override {
    const Verdict verdict = next(Call::open);
    return verdict.error != 0 ? -verdict.error : System::open(directory, path, as);
  }
  int status(int descriptor, FileStatus& status) override {
    const Verdict verdict = next(Call::status);
    if (verdict.error != 0) return -verdict.error;
    const int result = System::status(descriptor, status);
    if (writes_ && result == 0) {
      status.modified_ns = 0;
      status.changed_ns = writes_(status);
    }
    return result;
  }
  int status_of_path(const char* path, Links links, FileStatus& status) override {
    const Verdict verdict = next(Call::status_of_path);
    return verdict.error != 0 ? -verdict.error : System::status_of_path(path, links, status);
  }
  std::int64_t read(int descriptor, std::span<std::byte> buffer, std::uint64_t offset) override {
    const Verdict verdict = next(Call::read);
    if (verdict.error != 0) return -verdict.error;
    const std::size_t nbytes = std::min(buffer.size(), verdict.max_nbytes);
    return System::read(descriptor, buffer.first(nbytes), offset);
  }
  int is_on_network(int descriptor) override {
    const Verdict verdict = next(Call::is_on_network);
    return verdict.error != 0 ? -verdict.error : System::is_on_network(descriptor);
  }
  int map(int descriptor, std::size_t nbytes, Access access, std::byte*& data) override {
    const Verdict verdict = next(Call::map);
    return verdict.error != 0 ? -verdict.error : System::map(descriptor, nbytes, access, data);
  }
  // A mapping that stayed would be a leak of the test's making: whatever the verdict, it goes.
  int unmap(std::byte* data, std::size_t nbytes) override {
    const Verdict verdict = next(Call::unmap);
    const int result = System::unmap(data, nbytes);
    return verdict.error != 0 ? -verdict.error : result;
  }
  int drop_pages(std::byte* data, std::size_t nbytes) override {
    const Verdict verdict = next(Call::drop_pages);
    return verdict.error != 0 ? -verdict.error : System::drop_pages(data, nbytes);
  }
  int open_directory(const char* path, DirectoryStream*& directory) override {
    const Verdict verdict = next(Call::open_directory);
    return verdict.error != 0 ? -verdict.error : System::open_directory(path, directory);
  }
  int next_entry(DirectoryStream* directory, DirectoryEntry& entry) override {
    const Verdict verdict = next(Call::next_entry);
    return verdict.error != 0 ? -verdict.error : System::next_entry(directory, entry);
  }
  std::int64_t now_ns() override { return writes_ ? kNowNs : System::now_ns(); }
  int resolve(const char* path, std::string& absolute) override {
    const Verdict verdict = next(Call::resolve);
    return verdict.error != 0 ? -verdict.error : System::resolve(path, absolute);
  }
  int open_own(int directory, const char* name, OpenAs as) override {
    const Verdict verdict = next(Call::open_own);
    return verdict.error != 0 ? -verdict.error : System::open_own(directory, name, as);
  }
  int make_directory(int directory, const char* name) override {
    const Verdict verdict = next(Call::make_directory);
    return verdict.error != 0 ? -verdict.error : System::make_directory(directory, name);
  }
  int create(int directory, const char* name) override {
    const Verdict verdict = next(Call::create);
    return verdict.error != 0 ? -verdict.error : System::create(directory, name);
  }
  std::int64_t write(int descriptor, std::span<const std::byte> head,
                     std::span<const std::byte> rest) override {
    const Verdict verdict = next(Call::write);
    if (verdict.error != 0) return -verdict.error;
    const std::size_t n_head = std::min(head.size(), verdict.max_nbytes);
    const std::size_t n_rest = std::min(rest.size(), verdict.max_nbytes - n_head);
    return System::write(descriptor, head.first(n_head), rest.first(n_rest));
  }
  // A descriptor is free after the call, whatever it returns.
  int close(int descriptor) override {
    const Verdict verdict = next(Call::close);
    const int result = System::close(descriptor);
    return verdict.error != 0 ? -verdict.error : result;
  }
  int rename(int directory, const char* from, const char* to) override {
    const Verdict verdict = next(Call::rename);
    return verdict.error != 0 ? -verdict.error : System::rename(directory, from, to);
  }
  int remove(int directory, const char* name) override {
    const Verdict verdict = next(Call::remove);
    return verdict.error != 0 ? -verdict.error : System::remove(directory, name);
  }

 private:
  Verdict next(Call call) { return watch_(call, n_calls_++); }

  const Watch watch_;
  const Writes writes_;
  std::atomic<std::size_t> n_calls_ = 0;
  const SystemReplacement replacement_;
};

}  // namespace fastdump::tests
