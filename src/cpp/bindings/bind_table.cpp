#include "bindings/py_table.hpp"
#include "core/table/arrow.hpp"

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
      .def("__arrow_c_array__", &PyTable::arrow_c_array, py::arg("requested_schema") = py::none());
}

}  // namespace fastdump::bindings
