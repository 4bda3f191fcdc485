#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/one_run.hpp"
#include "bindings/positions.hpp"
#include "bindings/without_gil.hpp"
#include "core/concurrency/background.hpp"

namespace fastdump::bindings {
namespace {

// The walk that an index is made of.
class IndexTask {
 public:
  IndexTask(std::vector<std::string> roots, bool follow_links)
      : roots_(std::move(roots)), options_{follow_links} {}
  ~IndexTask() { stop(); }
  IndexTask(const IndexTask&) = delete;
  IndexTask& operator=(const IndexTask&) = delete;

  void start() {
    background_.start([this] { index_ = std::make_shared<Index>(roots_, options_, stop_); });
  }
  bool wait_for(std::chrono::milliseconds timeout) { return background_.wait_for(timeout); }
  void stop() {
    stop_ = true;
    background_.join();
  }
  // After the end:
  const std::shared_ptr<Index>& index() const { return index_; }

 private:
  const std::vector<std::string> roots_;
  const WalkOptions options_;
  std::atomic<bool> stop_ = false;
  std::shared_ptr<Index> index_;
  Background background_;
};

std::shared_ptr<Index> make_index(const std::vector<py::bytes>& paths, bool follow_links) {
  OneRun<IndexTask> run("the walk", std::make_unique<IndexTask>(to_paths(paths), follow_links));
  run.run();
  return run.ended().index();
}

py::bytes to_bytes(const Index::Positions& positions) {
  // SAFETY: integers may be looked at as bytes.
  return {reinterpret_cast<const char*>(positions.data()), positions.size() * sizeof(positions[0])};
}

// Calls `function` with the positions and without the GIL.
template <class Function>
auto with_positions(const Index& index, const py::object& buffer, const Function& function) {
  const Positions positions(buffer, index);
  // GIL: the index never changes, and who holds positions never changes them.
  const WithoutGil released;
  return function(positions.view());
}

py::str shown_path(const Index& index, std::size_t position) {
  Positions::check_position(index, position);
  return to_text(index.shown_path(position));
}

py::object text_or_none(std::string_view text) {
  return text.empty() ? py::object(py::none()) : to_text(text);
}

py::tuple record(const Index& index, std::size_t position) {
  Positions::check_position(index, position);
  const Where& where = index.where(position);
  const FileName name = index.name(position);
  std::string path;
  index.path(position, path);
  const py::object to_open = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<py::ssize_t>(path.size())));
  if (!to_open) throw py::error_already_set();
  return py::make_tuple(to_open, to_text(index.shown_path(position)), to_string(name.kind),
                        where.rank, text_or_none(where.time),
                        where.device ? where.device : name.device, text_or_none(where.model),
                        where.model_id, where.step, text_or_none(name.op_type),
                        text_or_none(name.op_name), name.task_id, name.stream_id, name.timestamp,
                        name.context_id, name.thread_id);
}

py::tuple select(const Index& index, const py::object& positions, const Selection& selection) {
  const Index::Selected selected = with_positions(
      index, positions, [&](Index::PositionsView view) { return index.select(view, selection); });
  return py::make_tuple(to_bytes(selected.positions), to_bytes(selected.undecided));
}

py::bytes find(const Index& index, const py::object& positions, const std::string& op_name) {
  return to_bytes(with_positions(
      index, positions, [&](Index::PositionsView view) { return index.find(view, op_name); }));
}

py::bytes nameless(const Index& index, const py::object& positions) {
  return to_bytes(with_positions(index, positions,
                                 [&](Index::PositionsView view) { return index.nameless(view); }));
}

py::bytes of_kinds(const Index& index, const py::object& positions,
                   const std::set<std::string>& kinds) {
  return to_bytes(with_positions(index, positions, [&](Index::PositionsView view) {
    Index::Positions found;
    for (const std::uint32_t position : view) {
      if (kinds.contains(std::string(to_string(index.name(position).kind)))) {
        found.push_back(position);
      }
    }
    return found;
  }));
}

py::list to_list(const std::set<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(to_text(text));
  return list;
}

py::list to_list(const std::set<std::int64_t>& numbers) {
  py::list list;
  for (const std::int64_t number : numbers) list.append(number);
  return list;
}

py::list op_names(const Index& index, const py::object& positions) {
  return to_list(with_positions(index, positions,
                                [&](Index::PositionsView view) { return index.op_names(view); }));
}

py::dict summary(const Index& index, const py::object& positions) {
  const IndexSummary found = with_positions(
      index, positions, [&](Index::PositionsView view) { return index.summary(view); });
  py::dict op_types;
  for (const auto& [op_type, n_files] : found.op_types) op_types[to_text(op_type)] = n_files;
  py::dict dict;
  dict["operators"] = found.n_operators;
  dict["ranks"] = to_list(found.ranks);
  dict["times"] = to_list(found.times);
  dict["devices"] = to_list(found.devices);
  dict["models"] = to_list(found.models);
  dict["steps"] = to_list(found.steps);
  dict["op_types"] = op_types;
  dict["kinds"] = found.kinds;
  dict["first_timestamp"] = found.first_timestamp;
  dict["last_timestamp"] = found.last_timestamp;
  return dict;
}

}  // namespace

void bind_index(py::module_& module) {
  py::class_<Index, std::shared_ptr<Index>>(module, "Index")
      .def(py::init(&make_index), py::arg("paths"), py::kw_only(), py::arg("follow_links"))
      .def("__len__", &Index::size)
      .def("record", &record, py::arg("position"))
      .def("shown_path", &shown_path, py::arg("position"))
      .def("select", &select, py::arg("positions"), py::arg("selection"))
      .def("find", &find, py::arg("positions"), py::arg("op_name"))
      .def("nameless", &nameless, py::arg("positions"))
      .def("of_kinds", &of_kinds, py::arg("positions"), py::arg("kinds"))
      .def("op_names", &op_names, py::arg("positions"))
      .def("summary", &summary, py::arg("positions"))
      .def("skipped", &Index::skipped);
}

}  // namespace fastdump::bindings
