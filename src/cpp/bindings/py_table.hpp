// A table of the core as Python sees it: one record batch of the Arrow C data interface.
#pragma once

#include <memory>
#include <utility>

#include "bindings/bindings.hpp"
#include "core/table/table.hpp"

namespace fastdump::bindings {

class PyTable {
 public:
  explicit PyTable(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  py::tuple arrow_c_array(const py::object& requested_schema) const;

 private:
  std::shared_ptr<const Table> table_;
};

}  // namespace fastdump::bindings
