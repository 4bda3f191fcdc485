// A table: named columns of one length. What its rows are is said where one is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/table/column.hpp"

namespace fastdump {

struct NamedColumn {
  std::string name;
  bool nullable;
  std::unique_ptr<Column> column;
};

struct Table {
  std::vector<NamedColumn> columns;
  std::int64_t n_rows = 0;
};

}  // namespace fastdump
