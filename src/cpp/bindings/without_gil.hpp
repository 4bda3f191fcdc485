// Work without the GIL, and the way back to it: the one place where bindings let the GIL go.
//
// A thread that asks for the GIL of an interpreter that is ending never gets it. Since Python 3.14
// it waits for ever. Before, pthread_exit() unwinds its stack, which ends the process at the first
// frame that is noexcept, as a destructor is, and on the way gives back, without the GIL, Python
// objects, and what other threads may be working on. Here it waits for ever under every Python,
// with its stack as it is. Threads of the core go on meanwhile, which touch no Python object. The
// end of the process ends them all.
#pragma once

#include <unistd.h>

#include <exception>

#include "bindings/bindings.hpp"

namespace fastdump::bindings {

// Stands in a frame from where its thread may ask for the GIL. Leaving the frame by return, through
// left(), or by a C++ exception is left alone. What unwinds the stack otherwise ends the thread.
class StayAtEnd {
 public:
  StayAtEnd() = default;
  ~StayAtEnd() {
    if (has_left_ || std::uncaught_exceptions() > n_exceptions_) return;
    while (true) ::pause();
  }
  StayAtEnd(const StayAtEnd&) = delete;
  StayAtEnd& operator=(const StayAtEnd&) = delete;

  void left() { has_left_ = true; }

 private:
  const int n_exceptions_ = std::uncaught_exceptions();
  bool has_left_ = false;
};

// Calls what runs Python code, or may ask for the GIL otherwise.
template <class Function>
void call_python(const Function& function) {
  StayAtEnd stay;
  function();
  stay.left();
}

// The GIL is let go while this lives. Made with the GIL held; no Python object may be touched.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  // Takes the GIL for one call, in the thread that let it go.
  template <class Function>
  void with_gil(const Function& function) {
    take();
    call_python(function);
    state_ = PyEval_SaveThread();
  }

 private:
  void take() {
    call_python([this] { PyEval_RestoreThread(state_); });
  }

  PyThreadState* state_;
};

}  // namespace fastdump::bindings
