#include <vector>

#include "bindings/bindings.hpp"
#include "core/errors.hpp"
#include "core/formats/standard.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/io/file.hpp"

namespace fastdump::bindings {
namespace {

std::uint64_t describe(const std::string& path, FileDescription& description) {
  const File file(path.c_str());
  if (file.error() != 0) throw SystemError(file.error(), path);
  const std::int64_t size = file.size();
  if (size < 0) throw SystemError(static_cast<int>(-size), path);
  const auto file_size = static_cast<std::uint64_t>(size);
  std::vector<std::byte> head(12);
  const ReadResult start = read_at(file, head, 0);
  if (start.error != 0) throw SystemError(start.error, path);
  head.resize(start.nbytes);
  head.resize(standard_header_end(head, file_size));
  const ReadResult header = read_at(file, head, 0);
  if (header.error != 0) throw SystemError(header.error, path);
  if (header.nbytes < head.size()) throw FormatError("the header is cut short", header.nbytes);
  describe_standard(head, file_size, description);
  return file_size;
}

// Text from a file need not be UTF-8.
py::str to_text(const std::string& bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()),
                                        "backslashreplace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

py::dict to_dict(const TensorDescription& tensor) {
  const std::string_view format = tensor_format_name(tensor.format);
  py::dict dict;
  dict["io"] = to_string(tensor.io);
  dict["index"] = tensor.index;
  dict["data_type"] = tensor.data_type;
  dict["dtype"] = tensor.dtype == nullptr ? py::object(py::none()) : py::str(tensor.dtype->name);
  dict["format"] = !is_typed(tensor) ? py::object(py::none())
                   : format.empty()  ? py::str(std::to_string(tensor.format))
                                     : py::str(format);
  dict["sub_format"] = tensor.sub_format;
  dict["shape"] = py::tuple(py::cast(tensor.shape));
  dict["origin_shape"] = py::tuple(py::cast(tensor.origin_shape));
  dict["nbytes"] = tensor.nbytes;
  dict["address"] = tensor.address;
  dict["offset"] = tensor.offset;
  dict["n_elements"] = tensor.n_elements;
  dict["status"] = to_string(tensor.status);
  dict["note"] = to_text(tensor.note);
  return dict;
}

py::dict describe_file(const py::bytes& path) {
  const std::string name = path;
  FileDescription description;
  std::uint64_t file_nbytes = 0;
  {
    // GIL: only C++ objects are touched.
    const py::gil_scoped_release release;
    file_nbytes = describe(name, description);
  }
  py::list attrs;
  for (const auto& [key, value] : description.attrs) {
    attrs.append(py::make_tuple(to_text(key), to_text(value)));
  }
  py::list tensors;
  for (const TensorDescription& tensor : description.tensors) tensors.append(to_dict(tensor));
  py::dict dict;
  dict["version"] = to_text(description.version);
  dict["dump_time"] = description.dump_time;
  dict["op_name"] = to_text(description.op_name);
  dict["dfx_message"] = to_text(description.dfx_message);
  dict["attrs"] = attrs;
  dict["header_nbytes"] = description.header_nbytes;
  dict["file_nbytes"] = file_nbytes;
  dict["note"] = to_text(description.note);
  dict["tensors"] = tensors;
  return dict;
}

}  // namespace

void bind_describe(py::module_& module) {
  module.def("describe_file", &describe_file, py::arg("path"),
             "The header of a standard dump file and what it says of each tensor.");
}

}  // namespace fastdump::bindings
