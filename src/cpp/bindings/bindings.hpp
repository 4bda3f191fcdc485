// What the binding's translation units share: the one place that includes pybind11 for them.
// Bindings translate arguments, release the GIL and translate errors; they hold no algorithm.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/concurrency/cpus.hpp"
#include "core/dtype.hpp"
#include "core/stream/engine.hpp"
#include "kernels/partial.hpp"

namespace py = pybind11;

namespace fastdump::bindings {

void bind_errors(py::module_& module);
void bind_info(py::module_& module);
void bind_describe(py::module_& module);
void bind_selection(py::module_& module);
// Before bind_scan(), which takes an Index; both take a Selection.
void bind_index(py::module_& module);
void bind_layout(py::module_& module);
void bind_reduce(py::module_& module);
void bind_mapping(py::module_& module);
void bind_unpack(py::module_& module);
void bind_copy(py::module_& module);
void bind_text_codes(py::module_& module);
void bind_dlpack(py::module_& module);
void bind_table(py::module_& module);
void bind_scan(py::module_& module);
void bind_compare(py::module_& module);
void bind_extract(py::module_& module);

// "health", "basic" or "full"; throws std::invalid_argument (ValueError) for anything else.
kernels::Level parse_level(const std::string& text);

// Text from a file need not be UTF-8: other bytes become \xNN, as in tables.
py::str to_text(std::string_view bytes);

// Paths for the system; std::invalid_argument for one that it would cut.
std::vector<std::string> to_paths(const std::vector<py::bytes>& paths);

// From 1 to kMaxThreads; std::invalid_argument otherwise.
int check_threads(int threads);

// Both from 1 to kMaxThreads, std::invalid_argument otherwise; without an `io_depth`, that of
// FASTDUMP_IO_DEPTH.
Parallelism parse_parallelism(int threads, std::optional<int> io_depth);

// "auto", "mmap" or "read"; std::invalid_argument otherwise.
Engine parse_engine(const std::string& text);

// std::invalid_argument if there is a null byte in it.
std::string check_path(const py::bytes& path);

// std::invalid_argument if the type is not known or has no encoding.
const DataType& reducible_type(const std::string& dtype);

}  // namespace fastdump::bindings
