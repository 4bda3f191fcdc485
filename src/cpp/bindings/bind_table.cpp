#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/contiguous_buffer.hpp"
#include "bindings/py_table.hpp"
#include "bindings/without_gil.hpp"
#include "core/table/arrow.hpp"
#include "core/table/raw_column.hpp"

namespace fastdump::bindings {
namespace {

template <class Struct>
py::capsule to_capsule(std::unique_ptr<Struct> exported, const char* name) {
  // Whoever imports the struct marks it released; otherwise the capsule releases it.
  const auto destroy = [](PyObject* object) {
    auto* owned = static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  };
  PyObject* capsule = PyCapsule_New(exported.get(), name, destroy);
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

// Format by Arrow, rows, nulls, buffers, and for a list the column of its items.
using StoredColumn = std::tuple<std::string, std::size_t, std::size_t,
                                std::vector<std::optional<py::buffer>>, py::object>;

// The bytes of a Python object, which stays alive as long as somebody has them: whoever imports the
// table lets go of them from any thread, with or without the GIL.
std::shared_ptr<const void> shared_bytes(const py::buffer& exporter) {
  const auto release = [](ContiguousBuffer* buffer) {
    // After the interpreter's end the buffer cannot be given back: the process is about to end.
    if (Py_IsInitialized() == 0) return;
    call_python([buffer] {
      const py::gil_scoped_acquire acquire;
      delete buffer;
    });
  };
  const std::shared_ptr<ContiguousBuffer> owner(new ContiguousBuffer(exporter), release);
  return {owner, owner->data()};
}

std::unique_ptr<RawColumn> to_column(const StoredColumn& stored) {
  const auto& [format, n_rows, n_null, parts, child] = stored;
  if (n_null > n_rows) throw std::invalid_argument("a column has more nulls than rows");
  std::vector<std::shared_ptr<const void>> buffers;
  for (const auto& part : parts) buffers.push_back(part ? shared_bytes(*part) : nullptr);
  return std::make_unique<RawColumn>(
      format, n_rows, n_null, std::move(buffers),
      child.is_none() ? nullptr : to_column(child.cast<StoredColumn>()));
}

PyTable stored_table(std::size_t n_rows,
                     const std::vector<std::tuple<std::string, bool, StoredColumn>>& columns) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(n_rows);
  for (const auto& [name, nullable, column] : columns) {
    table.columns.push_back({name, nullable, to_column(column)});
  }
  return PyTable(std::move(table));
}

}  // namespace

py::tuple PyTable::arrow_c_array(const py::object& requested_schema) const {
  // A request is a wish by the protocol; the table has one schema.
  static_cast<void>(requested_schema);
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(*table_, *schema);
  auto array = std::make_unique<ArrowArray>();
  export_array(table_, *array);
  return py::make_tuple(to_capsule(std::move(schema), "arrow_schema"),
                        to_capsule(std::move(array), "arrow_array"));
}

void bind_table(py::module_& module) {
  py::class_<PyTable>(module, "Table")
      .def_static("of_buffers", &stored_table, py::arg("n_rows"), py::arg("columns"))
      .def("__arrow_c_array__", &PyTable::arrow_c_array, py::arg("requested_schema") = py::none());
}

}  // namespace fastdump::bindings
