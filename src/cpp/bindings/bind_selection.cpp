#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/formats/layer_number.hpp"
#include "core/tree/glob.hpp"
#include "core/tree/selection.hpp"

namespace fastdump::bindings {
namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Texts = std::vector<std::string>;

template <class Word>
std::vector<Word> parse_words(const Texts& texts, const char* argument,
                              std::initializer_list<Word> words) {
  std::vector<Word> parsed;
  for (const std::string& text : texts) {
    const std::size_t before = parsed.size();
    for (const Word word : words) {
      if (text == to_string(word)) parsed.push_back(word);
    }
    if (parsed.size() == before) {
      throw std::invalid_argument(std::string(argument) + " has no value \"" + text + "\"");
    }
  }
  return parsed;
}

NumberRanges to_ranges(const Ranges& pairs) {
  NumberRanges ranges;
  ranges.reserve(pairs.size());
  for (const auto& [first, last] : pairs) ranges.push_back({first, last});
  return ranges;
}

Selection make_selection(const Ranges& rank, const Ranges& device, const Ranges& model_id,
                         const Ranges& step, const Ranges& index, Texts time, Texts model,
                         Texts op_type, const Texts& op_name, Texts dtype, const Texts& io,
                         const Texts& status) {
  Selection selection;
  selection.rank = to_ranges(rank);
  selection.device = to_ranges(device);
  selection.model_id = to_ranges(model_id);
  selection.step = to_ranges(step);
  selection.index = to_ranges(index);
  selection.time = std::move(time);
  selection.model = std::move(model);
  selection.op_type = std::move(op_type);
  selection.op_name = op_name;
  selection.dtype = std::move(dtype);
  selection.io = parse_words(io, "io", {Io::input, Io::output, Io::buffer, Io::space});
  selection.status =
      parse_words(status, "status",
                  {Status::ok, Status::truncated, Status::absent, Status::size_mismatch,
                   Status::unsupported, Status::malformed, Status::unreadable, Status::changed});
  return selection;
}

std::vector<bool> match_texts(const Texts& patterns, const Texts& texts) {
  std::vector<bool> matched;
  matched.reserve(texts.size());
  for (const std::string& text : texts) matched.push_back(matches_any(patterns, text));
  return matched;
}

std::vector<bool> match_op_names(const Texts& patterns, const Texts& names) {
  const OpNamePatterns wanted = patterns;
  std::vector<bool> matched;
  matched.reserve(names.size());
  for (const std::string& name : names) matched.push_back(wanted.match(name));
  return matched;
}

py::object layer_number(const std::string& op_name) {
  const std::optional<LayerNumber> found = find_layer_number(op_name);
  if (!found) return py::none();
  return py::make_tuple(found->number, found->begin, found->end);
}

}  // namespace

void bind_selection(py::module_& module) {
  py::class_<Selection>(module, "Selection")
      .def(py::init(&make_selection), py::kw_only(), py::arg("rank"), py::arg("device"),
           py::arg("model_id"), py::arg("step"), py::arg("index"), py::arg("time"),
           py::arg("model"), py::arg("op_type"), py::arg("op_name"), py::arg("dtype"),
           py::arg("io"), py::arg("status"));
  module.def("match_texts", &match_texts, py::arg("patterns"), py::arg("texts"));
  module.def("match_op_names", &match_op_names, py::arg("patterns"), py::arg("names"));
  module.def("layer_number", &layer_number, py::arg("op_name"));
}

}  // namespace fastdump::bindings
