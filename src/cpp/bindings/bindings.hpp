// What the binding's translation units share: the one place that includes pybind11 for them.
// Bindings translate arguments, release the GIL and translate errors; they hold no algorithm.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "kernels/partial.hpp"

namespace py = pybind11;

namespace fastdump::bindings {

void bind_errors(py::module_& module);
void bind_info(py::module_& module);
void bind_describe(py::module_& module);
void bind_reduce(py::module_& module);
void bind_scan(py::module_& module);

// "health", "basic" or "full"; throws std::invalid_argument (ValueError) for anything else.
kernels::Level parse_level(const std::string& text);

// From 1 to kMaxThreads; std::invalid_argument otherwise.
int check_threads(int threads);

}  // namespace fastdump::bindings
