#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/one_run.hpp"
#include "bindings/positions.hpp"
#include "bindings/without_gil.hpp"
#include "core/concurrency/background.hpp"
#include "core/formats/tree_path.hpp"
#include "core/tree/unchanged.hpp"

namespace fastdump::bindings {
namespace {

// The walk that an index is made of.
class IndexTask {
 public:
  IndexTask(std::vector<std::string> roots, WalkOptions options, bool every_file)
      : roots_(std::move(roots)), options_(std::move(options)), every_file_(every_file) {}
  ~IndexTask() { stop(); }
  IndexTask(const IndexTask&) = delete;
  IndexTask& operator=(const IndexTask&) = delete;

  void start() {
    background_.start([this] {
      index_ = every_file_ ? std::make_shared<Index>(walk_roots(roots_, options_, stop_))
                           : std::make_shared<Index>(roots_, options_, stop_);
    });
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
  const bool every_file_;
  std::atomic<bool> stop_ = false;
  std::shared_ptr<Index> index_;
  Background background_;
};

// What rows show of a directory, its state, and what was skipped in it.
using KnownAsPython = std::tuple<std::string, std::int64_t, SkippedFiles>;

std::shared_ptr<Index> make_index(const std::vector<py::bytes>& paths, bool follow_links,
                                  bool every_file, const std::vector<KnownAsPython>& known) {
  WalkOptions options{follow_links};
  if (!known.empty()) {
    auto directories = std::make_shared<KnownDirectories>();
    for (const auto& [shown, state, skipped] : known) directories->add(shown, state, skipped);
    options.known = std::move(directories);
  }
  OneRun<IndexTask> run(
      "the walk", std::make_unique<IndexTask>(to_paths(paths), std::move(options), every_file));
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

py::bytes shard(const Index& index, std::uint32_t i, std::uint32_t n) {
  if (i >= n) throw std::invalid_argument("there is no such shard");
  Index::Positions positions;
  {
    // GIL: the index never changes.
    const WithoutGil released;
    positions = index.shard(i, n);
  }
  return to_bytes(positions);
}

// Files as Python objects, which other processes can be sent: directories (path, path in rows,
// where, real names, whether it holds a root, its root), the directory of each file, and the files'
// names, each with a null byte after it.
py::tuple part(const Index& index, const py::object& buffer) {
  const Positions positions(buffer, index);
  std::map<std::uint32_t, std::uint32_t> numbers;  // of the directories in the part
  std::vector<py::dict> real_names;
  std::vector<std::size_t> example;  // a file of each directory
  Index::Positions directories;
  std::string names;
  for (const std::uint32_t position : positions.view()) {
    const auto number = static_cast<std::uint32_t>(numbers.size());
    const auto [found, is_new] = numbers.emplace(index.directory_index(position), number);
    if (is_new) {
      real_names.emplace_back();
      example.push_back(position);
    }
    directories.push_back(found->second);
    const std::string name(index.name_on_disk(position));
    const auto& real = index.directory(position).real_names;
    if (const auto mapped = real.find(name); mapped != real.end()) {
      real_names[found->second][py::bytes(name)] = py::bytes(mapped->second);
    }
    names.append(name).push_back('\0');
  }
  py::list described;
  for (std::size_t i = 0; i < example.size(); ++i) {
    const Directory& directory = index.directory(example[i]);
    const Where& where = directory.where;
    described.append(
        py::make_tuple(py::bytes(directory.path), py::bytes(directory.relative),
                       py::make_tuple(where.rank, py::bytes(where.time), where.device,
                                      py::bytes(where.model), where.model_id, where.step),
                       real_names[i], directory.holds_root, directory.root));
  }
  return py::make_tuple(described, to_bytes(directories), py::bytes(names));
}

Directory to_directory(const py::tuple& described) {
  Directory directory;
  directory.path = described[0].cast<std::string>();
  directory.relative = described[1].cast<std::string>();
  const auto where = described[2].cast<py::tuple>();
  directory.where = {
      where[0].cast<std::optional<std::int64_t>>(), where[1].cast<std::string>(),
      where[2].cast<std::optional<std::int64_t>>(), where[3].cast<std::string>(),
      where[4].cast<std::optional<std::int64_t>>(), where[5].cast<std::optional<std::int64_t>>()};
  directory.real_names = described[3].cast<std::unordered_map<std::string, std::string>>();
  directory.holds_root = described[4].cast<bool>();
  directory.root = described[5].cast<std::uint32_t>();
  return directory;
}

// What part() took apart.
std::shared_ptr<Index> of_part(const py::tuple& part) {
  FileTree tree;
  const auto described = part[0].cast<py::list>();
  for (const py::handle directory : described) {
    tree.add_directory(to_directory(directory.cast<py::tuple>()));
  }
  const ContiguousBuffer directories(part[1]);
  const auto names = part[2].cast<std::string>();
  const std::size_t n = directories.nbytes() / sizeof(std::uint32_t);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t directory = 0;
    std::memcpy(&directory, directories.data() + i * sizeof(directory), sizeof(directory));
    const std::size_t end = names.find('\0', begin);
    if (end == std::string::npos || directory >= described.size()) {
      throw std::invalid_argument("not a part of an index");
    }
    tree.add_file(directory, std::string_view(names).substr(begin, end - begin));
    begin = end + 1;
  }
  return std::make_shared<Index>(std::move(tree));
}

// The question that find_unchanged() answers.
class UnchangedTask {
 public:
  UnchangedTask(const Index& index, Index::PositionsView positions, const EarlierRows& earlier,
                const std::vector<std::string>& shown, const Parallelism& parallelism)
      : index_(index),
        positions_(positions),
        earlier_(earlier),
        shown_(shown),
        parallelism_(parallelism) {}
  ~UnchangedTask() { stop(); }
  UnchangedTask(const UnchangedTask&) = delete;
  UnchangedTask& operator=(const UnchangedTask&) = delete;

  void start() {
    background_.start([this] {
      found_ = find_unchanged(index_, positions_, earlier_, shown_, parallelism_, stop_);
    });
  }
  bool wait_for(std::chrono::milliseconds timeout) { return background_.wait_for(timeout); }
  void stop() {
    stop_ = true;
    background_.join();
  }
  // After the end:
  const Unchanged& found() const { return found_; }

 private:
  const Index& index_;
  const Index::PositionsView positions_;
  const EarlierRows earlier_;
  const std::vector<std::string>& shown_;
  const Parallelism parallelism_;
  std::atomic<bool> stop_ = false;
  Unchanged found_;
  Background background_;
};

py::tuple unchanged(const Index& index, const py::object& buffer, const py::object& paths,
                    const py::object& ends, const py::object& states,
                    const std::vector<std::string>& shown, int threads,
                    std::optional<int> io_depth) {
  const Parallelism parallelism = parse_parallelism(threads, io_depth);
  const Positions positions(buffer, index);
  const ContiguousBuffer texts(paths);
  const ContiguousBuffer text_ends(ends);
  const ContiguousBuffer numbers(states);
  if (!text_ends.holds<std::uint64_t>() || !numbers.holds<std::int64_t>() ||
      text_ends.nbytes() != numbers.nbytes()) {
    throw std::invalid_argument("ends and states are 64-bit integers, one of each a row");
  }
  if (!shown.empty() && shown.size() != index.n_directories()) {
    throw std::invalid_argument("shown has a text for each directory, or none");
  }
  const std::size_t n = numbers.nbytes() / sizeof(std::int64_t);
  // SAFETY: the buffers hold characters and aligned numbers of these types.
  const EarlierRows earlier = {{reinterpret_cast<const char*>(texts.data()), texts.nbytes()},
                               {reinterpret_cast<const std::uint64_t*>(text_ends.data()), n},
                               {reinterpret_cast<const std::int64_t*>(numbers.data()), n}};
  std::uint64_t begin = 0;
  for (const std::uint64_t end : earlier.ends) {
    if (end < begin || end > texts.nbytes())
      throw std::out_of_range("a path ends outside its text");
    begin = end;
  }
  OneRun<UnchangedTask> run(
      "the look at the files",
      std::make_unique<UnchangedTask>(index, positions.view(), earlier, shown, parallelism));
  run.run();
  const Unchanged& found = run.ended().found();
  // SAFETY: integers may be looked at as bytes.
  return py::make_tuple(
      to_bytes(found.to_read),
      py::bytes(reinterpret_cast<const char*>(found.is_kept.data()), found.is_kept.size()));
}

py::list directories(const Index& index) {
  py::list shown;
  for (std::size_t i = 0; i < index.n_directories(); ++i) {
    shown.append(to_text(index.shown_directory(i)));
  }
  return shown;
}

std::optional<std::int64_t> directory_device(const py::bytes& path) {
  return parse_tree_path(std::string(path), "").device;
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
  module.def("directory_device", &directory_device, py::arg("path"));
  py::class_<Index, std::shared_ptr<Index>>(module, "Index")
      .def(py::init(&make_index), py::arg("paths"), py::kw_only(), py::arg("follow_links"),
           py::arg("every_file") = false, py::arg("known") = py::list())
      .def_static("of_part", &of_part, py::arg("part"))
      .def("part", &part, py::arg("positions"))
      .def("shard", &shard, py::arg("i"), py::arg("n"))
      .def("unchanged", &unchanged, py::arg("positions"), py::kw_only(), py::arg("paths"),
           py::arg("ends"), py::arg("states"), py::arg("shown"), py::arg("threads"),
           py::arg("io_depth") = py::none())
      .def("directories", &directories)
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
