// Files that are in memory alone, and calls to the system that go wrong as the input of a fuzzer
// has it: they are interrupted, fail, give less than they were asked for, or find that a file has
// become shorter.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/io/system.hpp"

namespace fastdump::fuzz {

// What happens at one call; the calls of all kinds are counted together.
struct Fault {
  enum class Kind : std::uint8_t { interrupted, failed, stale, short_read, shrinks };
  std::size_t call = 0;
  Kind kind = Kind::interrupted;
  std::uint64_t nbytes = 0;  // that a read gives at most, or that the file has from then on
};

// One directory, "/dump", with one file.
class ServedSystem final : public System {
 public:
  ServedSystem(std::string name, std::vector<std::byte> content, std::vector<Fault> faults = {})
      : name_(std::move(name)),
        content_(std::move(content)),
        nbytes_(content_.size()),
        faults_(std::move(faults)),
        replacement_(*this) {}

  static const char* root() { return "/dump"; }
  bool has_shrunk() const { return nbytes_ != content_.size(); }

  int open(int, const char* path, OpenAs as) override {
    if (const int error = next()) return -error;
    if (as == OpenAs::directory) return kDirectory;
    const bool is_there = path == name_ || path == root() + ("/" + name_);
    return is_there ? kFile : -ENOENT;
  }
  int close(int) override { return 0; }
  int status(int descriptor, FileStatus& status) override {
    if (const int error = next()) return -error;
    tell(descriptor == kDirectory, status);
    return 0;
  }
  int status_of_path(const char* path, Links, FileStatus& status) override {
    if (const int error = next()) return -error;
    tell(std::string_view(path) == root(), status);
    return 0;
  }
  std::int64_t read(int descriptor, std::span<std::byte> buffer, std::uint64_t offset) override {
    std::uint64_t limit = UINT64_MAX;
    if (const int error = next(&limit)) return -error;
    if (descriptor != kFile) return -EISDIR;
    const std::uint64_t end = nbytes_;
    if (offset >= end) return 0;
    const std::uint64_t n = std::min<std::uint64_t>({buffer.size(), end - offset, limit});
    std::memcpy(buffer.data(), content_.data() + offset, static_cast<std::size_t>(n));
    return static_cast<std::int64_t>(n);
  }
  int is_on_network(int) override { return -next(); }

  // A copy: a mapping of memory that shrinks would need pages that go.
  int map(int, std::size_t nbytes, Access, std::byte*& data) override {
    if (const int error = next()) return -error;
    auto pages = std::make_unique<std::byte[]>(nbytes);
    std::memcpy(pages.get(), content_.data(),
                std::min<std::size_t>(nbytes, static_cast<std::size_t>(nbytes_)));
    data = pages.release();
    return 0;
  }
  int unmap(std::byte* data, std::size_t) override {
    delete[] data;
    return 0;
  }
  int drop_pages(std::byte*, std::size_t) override { return -next(); }

  int open_directory(const char*, DirectoryStream*& directory) override {
    if (const int error = next()) return -error;
    // SAFETY: never looked at; only what is given back to this object.
    directory = reinterpret_cast<DirectoryStream*>(new int(0));
    return 0;
  }
  int next_entry(DirectoryStream* directory, DirectoryEntry& entry) override {
    if (const int error = next()) return -error;
    int& n_listed = *reinterpret_cast<int*>(directory);
    if (n_listed++ > 0) return 0;
    entry = {name_, FileType::regular};
    return 1;
  }
  void close_directory(DirectoryStream* directory) override {
    delete reinterpret_cast<int*>(directory);
  }
  int resolve(const char* path, std::string& absolute) override {
    if (const int error = next()) return -error;
    absolute = path;
    return 0;
  }

 private:
  static constexpr int kDirectory = 1000;
  static constexpr int kFile = 1001;

  void tell(bool is_directory, FileStatus& status) const {
    status.type = is_directory ? FileType::directory : FileType::regular;
    status.nbytes = is_directory ? 0 : nbytes_.load();
    status.device = 1;
    status.inode = is_directory ? 1 : 2;
    // A file that was cut is in another state.
    status.modified_ns = status.changed_ns = !is_directory && has_shrunk() ? 2 : 1;
  }

  // The errno of this call.
  int next(std::uint64_t* limit = nullptr) {
    const std::size_t call = n_calls_++;
    int error = 0;
    for (const Fault& fault : faults_) {
      if (fault.call != call) continue;
      switch (fault.kind) {
        case Fault::Kind::interrupted:
          error = EINTR;
          break;
        case Fault::Kind::failed:
          error = EIO;
          break;
        case Fault::Kind::stale:
          error = ESTALE;
          break;
        case Fault::Kind::short_read:
          if (limit != nullptr) *limit = 1 + fault.nbytes;
          break;
        case Fault::Kind::shrinks:
          nbytes_ = std::min<std::uint64_t>(nbytes_, fault.nbytes);
          break;
      }
    }
    return error;
  }

  const std::string name_;
  const std::vector<std::byte> content_;
  std::atomic<std::uint64_t> nbytes_;  // from a fault on, less than the content's
  const std::vector<Fault> faults_;
  std::atomic<std::size_t> n_calls_ = 0;
  const SystemReplacement replacement_;
};

}  // namespace fastdump::fuzz
