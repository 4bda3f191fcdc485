// The one table: rows in execution order, in named columns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/scan/scan.hpp"
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

// Of a scan that has ended.
Table make_table(const Scan& scan);

}  // namespace fastdump
