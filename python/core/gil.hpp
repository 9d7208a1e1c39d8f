// Letting go of the GIL and taking it, also in a thread that outlives the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

#include "core/last_calls.hpp"

namespace rung::python {

// A daemon thread that wants the GIL of an interpreter that is ending gets none: before 3.14 CPython ends the thread by
// unwinding its stack, which no C++ function that throws nothing survives. Such a thread waits here for the process's
// end, as CPython's own do from 3.14 on.
template <class Take>
auto take_gil(const Take& take) noexcept {
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

// Without the GIL as long as it lives.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) { LastCalls::get().enter(); }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() {
    LastCalls::get().leave();
    take_gil([this] { return PyEval_RestoreThread(state_), 0; });
  }

 private:
  PyThreadState* state_;
};

// With the GIL, in a callback of the library's.
class HeldGil {
 public:
  HeldGil() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;
  ~HeldGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// Of a call of the library that takes its time.
template <class Call>
auto without_gil(const Call& call) {
  const ReleasedGil released;
  return call();
}

}  // namespace rung::python
