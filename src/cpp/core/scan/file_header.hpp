// The bytes that an open file is described from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/header_bytes.hpp"
#include "core/io/file.hpp"

namespace fastdump {

class FileHeader final : public HeaderBytes {
 public:
  FileHeader(const File& file, std::span<const std::byte> head, std::uint64_t file_nbytes)
      : HeaderBytes(head, file_nbytes), file_(file) {}

  bool has_all_bytes() override;
  // Whether bytes were read that are not in the head.
  bool has_fetched() const { return has_fetched_; }

 private:
  std::size_t fetch(std::uint64_t offset, std::span<std::byte> buffer) override;

  const File& file_;
  bool has_fetched_ = false;
};

}  // namespace fastdump
