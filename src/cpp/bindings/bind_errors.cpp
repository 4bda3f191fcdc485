#include <cerrno>

#include "bindings/bindings.hpp"
#include "core/errors.hpp"

namespace fastdump::bindings {

void bind_errors(py::module_& module) {
  // The public classes live in Python, which raises them in place of these.
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> format_error;
  format_error.call_once_and_store_result(
      [&] { return py::exception<FormatError>(module, "FormatError", PyExc_ValueError); });
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> file_changed_error;
  file_changed_error.call_once_and_store_result([&] {
    return py::exception<FileChangedError>(module, "FileChangedError", format_error.get_stored());
  });
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> layout_error;
  layout_error.call_once_and_store_result(
      [&] { return py::exception<LayoutError>(module, "LayoutError", PyExc_ValueError); });
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> table_too_large_error;
  table_too_large_error.call_once_and_store_result([&] {
    return py::exception<TableTooLargeError>(module, "TableTooLargeError", PyExc_MemoryError);
  });
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const SystemError& error) {
      // FileNotFoundError, PermissionError, ... with errno and filename set.
      errno = error.error_number();
      if (error.path().empty()) {
        PyErr_SetFromErrno(PyExc_OSError);
        return;
      }
      const py::object path = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefaultAndSize(
          error.path().data(), static_cast<py::ssize_t>(error.path().size())));
      PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
    } catch (const FileChangedError& error) {
      py::set_error(file_changed_error.get_stored(), error.what());
    } catch (const FormatError& error) {
      py::set_error(format_error.get_stored(), error.what());
    } catch (const TableTooLargeError& error) {
      py::set_error(table_too_large_error.get_stored(), error.what());
    } catch (const LayoutError& error) {
      py::set_error(layout_error.get_stored(), error.what());
    }
  });
}

}  // namespace fastdump::bindings
