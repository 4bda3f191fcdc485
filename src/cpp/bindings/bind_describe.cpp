#include <algorithm>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/errors.hpp"
#include "core/formats/argument_kind.hpp"
#include "core/formats/file_name.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/io/file.hpp"
#include "core/scan/describe.hpp"
#include "core/tree/walk.hpp"

namespace fastdump::bindings {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{4} << 10;  // most headers are shorter

struct Description {
  std::vector<FileDescription> dumps;
  std::uint64_t file_nbytes = 0;
};

Description describe_path(const std::string& path) {
  const File file(path.c_str());
  if (file.error() != 0) throw SystemError(file.error(), path);
  const std::int64_t size = file.size();
  if (size < 0) throw SystemError(static_cast<int>(-size), path);
  std::vector<std::byte> head(kHeadBytes);
  const ReadResult read = read_at(file, head, 0);
  if (read.error != 0) throw SystemError(read.error, path);
  head.resize(read.nbytes);
  Description description;
  // A file may grow meanwhile, and some (of /proc) tell no size.
  description.file_nbytes = std::max<std::uint64_t>(static_cast<std::uint64_t>(size), head.size());
  describe(file, description.file_nbytes, head, parse_file_name(find_real_name(path)),
           description.dumps);
  return description;
}

// Text from a file need not be UTF-8.
py::str to_text(const std::string& bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()),
                                        "backslashreplace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

py::object to_format(std::int64_t number) {
  const std::string_view name = tensor_format_name(number);
  return name.empty() ? py::str(std::to_string(number)) : py::str(name);
}

py::dict to_dict(const TensorDescription& tensor) {
  const std::string_view argument = argument_kind(tensor.input_type);
  py::dict dict;
  dict["io"] = to_string(tensor.io);
  dict["index"] = tensor.index;
  dict["data_type"] = tensor.data_type;
  dict["dtype"] = tensor.dtype == nullptr ? py::object(py::none()) : py::str(tensor.dtype->name);
  // Buffers and spaces have none, tables of statistics may not tell.
  dict["format"] = tensor.format < 0 ? py::object(py::none()) : to_format(tensor.format);
  dict["sub_format"] = tensor.sub_format;
  dict["shape"] = py::tuple(py::cast(tensor.shape));
  dict["origin_shape"] = py::tuple(py::cast(tensor.origin_shape));
  dict["nbytes"] = tensor.nbytes;
  dict["address"] = tensor.address;
  dict["arg_index"] = tensor.arg_index;
  dict["input_type"] = tensor.input_type;
  dict["input_kind"] = argument.empty() ? py::object(py::none()) : py::str(argument);
  dict["offset"] = tensor.offset;
  dict["n_elements"] = tensor.n_elements;
  dict["status"] = to_string(tensor.status);
  dict["note"] = to_text(tensor.note.text());
  // What few tensors have.
  dict["original_op"] = py::none();
  dict["slice"] = py::none();
  dict["full_shape"] = py::none();
  return dict;
}

py::dict to_dict(const OriginalOp& op, std::int64_t format) {
  py::dict dict;
  dict["name"] = to_text(op.name);
  dict["output_index"] = op.output_index;
  dict["format"] = to_format(format);
  return dict;
}

py::list to_ranges(const TensorSlice& slice) {
  py::list ranges;
  for (std::size_t i = 0; i < slice.lower.size(); ++i) {
    ranges.append(py::make_tuple(slice.lower[i], slice.higher[i]));
  }
  return ranges;
}

void append_tensors(const FileDescription& dump, std::size_t appended, py::list& tensors) {
  const std::size_t first = tensors.size();
  for (const TensorDescription& tensor : dump.tensors) {
    py::dict dict = to_dict(tensor);
    dict["appended"] = appended;
    dict["fortran_order"] = dump.fortran_order;
    tensors.append(dict);
  }
  for (const OriginalOp& op : dump.original_ops) {
    tensors[first + op.tensor]["original_op"] =
        to_dict(op, dump.tensors[op.tensor].original_format);
  }
  for (const TensorSlice& slice : dump.slices) {
    tensors[first + slice.tensor]["slice"] = to_ranges(slice);
    tensors[first + slice.tensor]["full_shape"] = py::tuple(py::cast(slice.full_shape));
  }
}

py::dict describe_file(const py::bytes& path) {
  const std::string name = path;
  Description description;
  {
    // GIL: only C++ objects are touched.
    const py::gil_scoped_release release;
    description = describe_path(name);
  }
  const FileDescription& first = description.dumps.front();
  py::list attrs;
  for (const auto& [key, value] : first.attrs) {
    attrs.append(py::make_tuple(to_text(key), to_text(value)));
  }
  py::list tensors;
  for (std::size_t i = 0; i < description.dumps.size(); ++i) {
    append_tensors(description.dumps[i], i, tensors);
  }
  py::dict dict;
  dict["kind"] = to_string(first.kind);
  dict["version"] = to_text(first.version);
  dict["dump_time"] = first.dump_time;
  dict["op_name"] = to_text(first.op_name);
  dict["dfx_message"] = to_text(first.dfx_message);
  dict["attrs"] = attrs;
  dict["header_nbytes"] = first.header_nbytes;
  dict["file_nbytes"] = description.file_nbytes;
  dict["note"] = to_text(description.dumps.back().note.text());
  dict["tensors"] = tensors;
  return dict;
}

}  // namespace

void bind_describe(py::module_& module) {
  module.def("describe_file", &describe_file, py::arg("path"),
             "What the headers of a dump file say, of each tensor too.");
}

}  // namespace fastdump::bindings
