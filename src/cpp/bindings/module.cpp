#include <exception>
#include <system_error>

#include "bindings/bindings.hpp"
#include "core/concurrency/thread_start.hpp"
#include "core/stream/stream_sizes.hpp"
#include "kernels/tiers.hpp"

namespace {

// Sets ImportError in any other interpreter. numpy, too, is for the main one alone.
bool check_main_interpreter() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return true;
  PyErr_SetString(PyExc_ImportError, "fastdump works in the main interpreter of a process only");
  return false;
}

// A child that is forked while a thread initialises a static variable of a function waits for that
// in vain. Threads begin after the import, so it initialises what they use. LLVM's library has such
// variables, too: for categories of errors, and one that the first thread initialises.
void initialise_before_threads() {
  fastdump::kernels::compiled_tiers();
  static_cast<void>(std::system_category());
  try {
    fastdump::start_thread([] {}).join();
  } catch (const std::exception&) {
    // There is no room for threads.
  }
  try {
    fastdump::stream_sizes();
  } catch (const std::exception&) {
    // The environment asks for what is not possible: the first use says so.
  }
}

}  // namespace

// Its import waits for itself, for ever, in another interpreter of Python 3.11 and older.
PYBIND11_MODULE(_core_of_main, module, py::mod_gil_not_used()) {
  using namespace fastdump::bindings;
  // Newer Pythons enter the main interpreter to call PyInit__core(), and come back for this.
  if (!check_main_interpreter()) throw py::error_already_set();
  initialise_before_threads();
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
  bind_copy(module);
  bind_text_codes(module);
  bind_dlpack(module);
  bind_table(module);
  bind_scan(module);
  bind_compare(module);
  bind_extract(module);
}

extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  return check_main_interpreter() ? PyInit__core_of_main() : nullptr;
}
