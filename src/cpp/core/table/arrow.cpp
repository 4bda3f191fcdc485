#include "core/table/arrow.hpp"

#include <string>
#include <utility>
#include <vector>

namespace fastdump {
namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// What an exported struct points to. The consumer may move the struct, so nothing here points back.
template <class Struct>
struct Owned {
  std::string name;
  std::vector<const void*> buffers;
  std::vector<Struct> children;
  std::vector<Struct*> child_pointers;
  std::shared_ptr<const Table> table;

  void set_children(Struct& exported) {
    for (Struct& child : children) child_pointers.push_back(&child);
    exported.n_children = static_cast<std::int64_t>(child_pointers.size());
    exported.children = child_pointers.data();
  }
};

template <class Struct>
void release(Struct* exported) {
  auto* owned = static_cast<Owned<Struct>*>(exported->private_data);
  for (Struct& child : owned->children) {
    // A consumer may have moved a child out; it is released where it went.
    if (child.release != nullptr) child.release(&child);
  }
  delete owned;
  exported->release = nullptr;
}

void fill_schema(ArrowSchema& schema, const char* format, const std::string& name, bool nullable,
                 std::unique_ptr<Owned<ArrowSchema>> owned) {
  owned->name = name;
  schema = {};
  schema.format = format;
  schema.name = owned->name.c_str();
  schema.flags = nullable ? kNullable : 0;
  owned->set_children(schema);
  schema.release = release<ArrowSchema>;
  schema.private_data = owned.release();
}

void export_field(const Column& column, const std::string& name, bool nullable,
                  ArrowSchema& schema) {
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  if (const Column* child = column.child()) {
    owned->children.resize(1);
    export_field(*child, "item", true, owned->children[0]);
  }
  fill_schema(schema, column.arrow_format(), name, nullable, std::move(owned));
}

void fill_array(ArrowArray& array, std::int64_t length, std::int64_t n_null,
                std::unique_ptr<Owned<ArrowArray>> owned) {
  array = {};
  array.length = length;
  array.null_count = n_null;
  array.n_buffers = static_cast<std::int64_t>(owned->buffers.size());
  array.buffers = owned->buffers.data();
  owned->set_children(array);
  array.release = release<ArrowArray>;
  array.private_data = owned.release();
}

void export_column(const Column& column, const std::shared_ptr<const Table>& table,
                   ArrowArray& array) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  owned->table = table;
  owned->buffers = column.buffers();
  if (const Column* child = column.child()) {
    owned->children.resize(1);
    export_column(*child, table, owned->children[0]);
  }
  fill_array(array, column.size(), column.n_null(), std::move(owned));
}

}  // namespace

void export_schema(const Table& table, ArrowSchema& schema) {
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  owned->children.resize(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const NamedColumn& named = table.columns[i];
    export_field(*named.column, named.name, named.nullable, owned->children[i]);
  }
  fill_schema(schema, "+s", "", false, std::move(owned));
}

void export_array(std::shared_ptr<const Table> table, ArrowArray& array) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  owned->buffers = {nullptr};  // of a struct: validity alone
  owned->children.resize(table->columns.size());
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    export_column(*table->columns[i].column, table, owned->children[i]);
  }
  const std::int64_t n_rows = table->n_rows;
  owned->table = std::move(table);
  fill_array(array, n_rows, 0, std::move(owned));
}

}  // namespace fastdump
