// A column made of buffers that are complete, and that others own: one that was stored and is given
// back as it was, or one that was put together elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/table/column.hpp"

namespace fastdump {

class RawColumn final : public Column {
 public:
  // `buffers` in Arrow's order, each alive as long as the column; no validity means that nothing is
  // null. `child` holds the items of lists.
  RawColumn(std::string format, std::size_t n_rows, std::size_t n_null,
            std::vector<std::shared_ptr<const void>> buffers, std::unique_ptr<RawColumn> child)
      : format_(std::move(format)), buffers_(std::move(buffers)), child_(std::move(child)) {
    validity_.append_valid(n_rows - n_null);
    validity_.append_nulls(n_null);
  }

  const char* arrow_format() const override { return format_.c_str(); }
  std::vector<const void*> buffers() const override {
    std::vector<const void*> pointers;
    for (const auto& buffer : buffers_) pointers.push_back(buffer.get());
    return pointers;
  }
  const Column* child() const override { return child_.get(); }
  void reserve(std::size_t, std::size_t) override { refuse(); }
  void append_runs(std::span<const Column* const>, std::span<const RowRun>) override { refuse(); }
  void truncate(std::size_t) override {}

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("a raw column never grows"); }

  std::string format_;
  std::vector<std::shared_ptr<const void>> buffers_;
  std::unique_ptr<RawColumn> child_;
};

}  // namespace fastdump
