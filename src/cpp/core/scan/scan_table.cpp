#include "core/scan/scan_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/concurrency/thread_team.hpp"
#include "core/free_memory.hpp"
#include "core/scan/found_rows.hpp"
#include "core/tree/execution_order.hpp"

namespace fastdump {
namespace {

// Fewer are not worth a thread.
constexpr std::size_t kRowsPerThread = 4096;

// Each has a column in memory that the blocks have, too: with more of them, rows are there twice.
constexpr std::size_t kMostThreads = 4;

// To give freed memory back is a walk through the heap.
constexpr std::size_t kFreedAtOnce = std::size_t{8} << 20;

// The rows of all threads, and the order of execution.
struct OrderedRows {
  struct FileRun {
    std::size_t file;
    std::size_t n;
  };

  // Nothing but the blocks is left of what was found.
  OrderedRows(const FileTree& tree, std::vector<FoundRows> all_found) {
    std::vector<ExecutionRows> found;  // in the blocks of all threads
    std::vector<RowBlock> found_blocks;
    std::size_t n_found = 0;
    for (const FoundRows& rows : all_found) n_found += rows.executions().size();
    found.reserve(n_found);
    for (FoundRows& part : all_found) {
      FoundRows rows = std::move(part);  // to be freed before the next is copied
      const auto n_before = static_cast<std::uint32_t>(found_blocks.size());
      for (ExecutionRows execution : rows.executions()) {
        execution.block += n_before;
        found.push_back(execution);
      }
      std::ranges::move(rows.blocks(), std::back_inserter(found_blocks));
    }
    const auto execution = [&](std::size_t i) {
      return found_blocks[found[i].block].execution(found[i].file, found[i].first);
    };
    files.reserve(n_found);
    for (const std::size_t i : execution_order(tree, n_found, execution)) add(found[i]);
    for (RowBlock& block : found_blocks) blocks.push_back(block.take());
  }

  void add(const ExecutionRows& rows) {
    files.push_back({rows.file, rows.n});
    n_rows += rows.n;
    const bool goes_on = !runs.empty() && runs.back().column == rows.block &&
                         runs.back().first + runs.back().n == rows.first;
    if (goes_on) {
      runs.back().n += rows.n;
    } else {
      runs.push_back({rows.block, rows.first, rows.n});
    }
  }

  std::vector<Table> blocks;
  std::vector<RowRun> runs;  // of blocks; each follows the one before in the table
  std::vector<FileRun> files;
  std::size_t n_rows = 0;
};

void append(Int64Column& column, std::optional<std::int64_t> value, std::size_t n) {
  column.append(value, n);
}

void append(TextColumn& column, std::string_view value, std::size_t n) {
  column.append_or_null(value, n);
}

// Columns are filled independently of each other, by any number of threads. What the blocks hold of
// a column is freed when the table has it, so that rows are not in memory twice.
class TableMaker {
 public:
  explicit TableMaker(Scan& scan)
      : tree_(scan.tree()),
        rows_(tree_, scan.take_rows()),
        found_(RowBlock(scan.content()).take()) {}

  Table run(int threads) {
    // In the order of the schema.
    add_where<Int64Column>("rank", &Where::rank);
    add_where<TextColumn>("time", &Where::time);
    add_found_to("device");
    add_where<TextColumn>("model", &Where::model);
    add_where<Int64Column>("model_id", &Where::model_id);
    add_where<Int64Column>("step", &Where::step);
    add_found_to("note");
    add_path();
    add_found_to(found_.columns.back().name);
    put_in_order();
    const std::size_t n_useful = rows_.n_rows / kRowsPerThread + 1;
    run_in_threads(std::min({static_cast<std::size_t>(threads), n_useful, kMostThreads}),
                   [this] { fill(); });
    if (failure_) std::rethrow_exception(failure_);
    table_.n_rows = static_cast<std::int64_t>(rows_.n_rows);
    return std::move(table_);
  }

 private:
  template <class C>
  C* declare(const char* name, bool nullable) {
    auto owned = std::make_unique<C>();
    C* column = owned.get();
    table_.columns.push_back({name, nullable, std::move(owned)});
    return column;
  }

  // What directories tell.
  template <class C, class Value>
  void add_where(const char* name, Value Where::* value) {
    auto* column = declare<C>(name, true);
    fill_told_.push_back([this, column, value] {
      column->reserve(rows_.n_rows, 0);
      for (auto file = rows_.files.begin(); file != rows_.files.end();) {
        const std::uint32_t directory = tree_.directory_index(file->file);
        std::size_t n = 0;
        for (; file != rows_.files.end() && tree_.directory_index(file->file) == directory;
             ++file) {
          n += file->n;
        }
        append(*column, tree_.directories()[directory].where.*value, n);
      }
    });
  }

  // What threads have found: their columns up to and including `last`.
  void add_found_to(std::string_view last) {
    for (bool is_last = false; !is_last; ++next_found_) {
      const std::size_t i = next_found_;
      is_last = found_.columns[i].name == last;
      Column* column = found_.columns[i].column.get();
      table_.columns.push_back(std::move(found_.columns[i]));
      fill_found_.push_back([this, i, column] { move_found(i, *column); });
    }
  }

  void move_found(std::size_t i, Column& column) {
    std::vector<const Column*> columns;
    std::size_t n_parts = 0;
    for (const Table& block : rows_.blocks) {
      columns.push_back(block.columns[i].column.get());
      n_parts += columns.back()->n_parts();
    }
    column.reserve(rows_.n_rows, n_parts);
    column.append_runs(columns, rows_.runs);
    for (Table& block : rows_.blocks) block.columns[i].column.reset();
    // About as much as there was.
    note_freed(rows_.n_rows * sizeof(std::int64_t) + n_parts);
  }

  void note_freed(std::size_t nbytes) {
    if (n_freed_.fetch_add(nbytes) + nbytes < kFreedAtOnce) return;
    if (n_freed_.exchange(0) >= kFreedAtOnce) give_back_memory();
  }

  void add_path() {
    auto* column = declare<TextColumn>("path", false);
    fill_path_ = [this, column] {
      column->reserve(rows_.n_rows, n_path_bytes());
      std::string path;
      for (const OrderedRows::FileRun& file : rows_.files) {
        tree_.shown_path(file.file, path);
        column->append(path, file.n);
      }
    };
  }

  // What takes more memory comes after what frees as much. Paths are by far the longest, and
  // whoever began them last would be waited for: they come as early as that allows.
  void put_in_order() {
    const std::size_t n_before = std::min(
        n_path_bytes() / (rows_.n_rows * sizeof(std::int64_t) + 1) + 1, fill_found_.size());
    fill_ = std::move(fill_found_);
    fill_.insert(fill_.begin() + static_cast<std::ptrdiff_t>(n_before), std::move(fill_path_));
    std::ranges::move(fill_told_, std::back_inserter(fill_));
  }

  // A path is longer only where it is no text.
  std::size_t n_path_bytes() const {
    std::size_t n = 0;
    for (const OrderedRows::FileRun& file : rows_.files) {
      n += file.n * (tree_.directory(file.file).relative.size() + 1 + tree_.name(file.file).size());
    }
    return n;
  }

  void fill() {
    try {
      for (std::size_t i = next_fill_++; i < fill_.size(); i = next_fill_++) fill_[i]();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  const FileTree& tree_;
  OrderedRows rows_;
  Table found_;  // without rows: the columns that threads have found
  std::size_t next_found_ = 0;
  Table table_;
  std::vector<std::function<void()>> fill_found_, fill_told_;
  std::function<void()> fill_path_;
  std::vector<std::function<void()>> fill_;  // all of them
  std::atomic<std::size_t> next_fill_ = 0;
  std::atomic<std::size_t> n_freed_ = 0;  // bytes that the heap keeps, about
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

Table make_table(Scan& scan) { return TableMaker(scan).run(scan.threads()); }

}  // namespace fastdump
