// A table as the Arrow C data interface hands it over: one struct array, which owns its memory. The
// two structs are the interface's ABI, https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>
#include <memory>

#include "core/table/table.hpp"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}

namespace fastdump {

// Each fills a struct whose release() must be called by whoever consumes it. Arrays keep the table
// alive.
void export_schema(const Table& table, ArrowSchema& schema);
void export_array(std::shared_ptr<const Table> table, ArrowArray& array);

}  // namespace fastdump
