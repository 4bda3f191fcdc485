#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  using namespace fastdump::bindings;
  module.doc() = "The C++ core of fastdump. Private: use the fastdump package.";
  module.attr("__version__") = FASTDUMP_VERSION;
  bind_errors(module);
  bind_info(module);
  bind_describe(module);
  bind_layout(module);
  bind_reduce(module);
  bind_selection(module);
  bind_index(module);
  bind_mapping(module);
  bind_unpack(module);
  bind_dlpack(module);
  bind_table(module);
  bind_scan(module);
  bind_compare(module);
}
