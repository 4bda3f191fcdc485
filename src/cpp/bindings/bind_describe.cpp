#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/without_gil.hpp"
#include "core/formats/argument_kind.hpp"
#include "core/formats/tensor_format.hpp"
#include "core/scan/describe_file.hpp"

namespace fastdump::bindings {
namespace {

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

py::dict describe_path(const py::bytes& path) {
  const std::string name = path;
  DescribedFile description;
  {
    // GIL: only C++ objects are touched.
    const WithoutGil released;
    description = describe_file(name);
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
  Note note = first.header_note;
  note.add(description.dumps.back().note);
  py::dict dict;
  dict["kind"] = to_string(first.kind);
  dict["version"] = to_text(first.version);
  dict["dump_time"] = first.dump_time;
  dict["op_name"] = to_text(first.op_name);
  dict["dfx_message"] = to_text(first.dfx_message);
  dict["attrs"] = attrs;
  dict["header_nbytes"] = first.header_nbytes;
  dict["file_nbytes"] = description.nbytes;
  dict["state"] = static_cast<std::int64_t>(description.state);
  dict["note"] = to_text(note.text());
  dict["tensors"] = tensors;
  return dict;
}

}  // namespace

void bind_describe(py::module_& module) {
  module.def("describe_file", &describe_path, py::arg("path"),
             "What the headers of a dump file say, of each tensor too.");
}

}  // namespace fastdump::bindings
