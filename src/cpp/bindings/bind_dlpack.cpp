#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/without_gil.hpp"
#include "core/size.hpp"

namespace fastdump::bindings {
namespace {

// What an exported struct points into, and the struct itself.
template <class Managed>
struct Exported {
  explicit Exported(const py::object& data) : buffer(data) {}

  Managed managed{};
  ContiguousBuffer buffer;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

// Consumers call it once, from any thread, with or without the GIL.
template <class Managed>
void delete_exported(Managed* managed) {
  // After the interpreter's end the buffer cannot be given back: the process is about to end.
  if (Py_IsInitialized() == 0) return;
  call_python([managed] {
    const py::gil_scoped_acquire acquire;
    delete static_cast<Exported<Managed>*>(managed->manager_ctx);
  });
}

template <class Managed>
constexpr const char* kCapsuleName = "dltensor";
template <>
constexpr const char* kCapsuleName<DLManagedTensorVersioned> = "dltensor_versioned";

// Who imports a capsule renames it and owns its tensor.
template <class Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsuleName<Managed>) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kCapsuleName<Managed>));
  managed->deleter(managed);
}

// Steps between neighbours along each axis. Throws std::invalid_argument for a shape that has
// negative dimensions, or no such steps.
std::vector<std::int64_t> make_strides(const std::vector<std::int64_t>& shape, bool fortran_order) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = fortran_order ? i : shape.size() - 1 - i;
    strides[axis] = stride;
    if (shape[axis] < 0 || __builtin_mul_overflow(stride, shape[axis], &stride)) {
      throw std::invalid_argument("there is no array of shape " +
                                  shape_text(std::span<const std::int64_t>(shape)));
    }
  }
  return strides;
}

template <class Managed>
py::capsule make_capsule(const py::object& data, std::vector<std::int64_t> shape,
                         bool fortran_order, DLDataType type, std::uint64_t flags) {
  auto exported = std::make_unique<Exported<Managed>>(data);
  exported->strides = make_strides(shape, fortran_order);
  exported->buffer.check_nbytes(
      "data", packed_nbytes(count_elements(std::span<const std::int64_t>(shape)), type.bits));
  exported->shape = std::move(shape);
  Managed& managed = exported->managed;
  managed.dl_tensor = {exported->buffer.data(),
                       {kDlCpu, 0},
                       static_cast<std::int32_t>(exported->shape.size()),
                       type,
                       exported->shape.data(),
                       exported->strides.data(),
                       0};
  managed.manager_ctx = exported.get();
  managed.deleter = delete_exported<Managed>;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.version = kDlPackVersion;
    managed.flags = flags;
  }
  PyObject* capsule = PyCapsule_New(&managed, kCapsuleName<Managed>, destroy_capsule<Managed>);
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::capsule to_dlpack(const py::object& data, std::vector<std::int64_t> shape, bool fortran_order,
                      std::uint8_t code, std::uint8_t bits, bool versioned, bool read_only,
                      bool copied) {
  const DLDataType type = {code, bits, 1};
  const std::uint64_t flags = (read_only ? kDlReadOnly : 0) | (copied ? kDlIsCopied : 0);
  const auto make =
      versioned ? make_capsule<DLManagedTensorVersioned> : make_capsule<DLManagedTensor>;
  return make(data, std::move(shape), fortran_order, type, flags);
}

}  // namespace

void bind_dlpack(py::module_& module) {
  module.def("to_dlpack", &to_dlpack, py::arg("data"), py::arg("shape"), py::kw_only(),
             py::arg("fortran_order"), py::arg("code"), py::arg("bits"), py::arg("versioned"),
             py::arg("read_only"), py::arg("copied"),
             "A DLPack capsule of the elements that a contiguous buffer holds.");
}

}  // namespace fastdump::bindings
