// Callbacks of the library's that call Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <exception>

#include "core/gil.hpp"

namespace rung::python {

// Python's handlers of signals run first, so that Ctrl-C ends the work as an exception of `say` does. False: something
// was raised, of which `raised` keeps the first, or the program ends.
template <class Say>
bool heard(std::exception_ptr& raised, const Say& say) {
  if (LastCalls::get().ending()) return false;
  const HeldGil held;
  try {
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    say();
    return true;
  } catch (abi::__forced_unwind&) {  // the interpreter ends this thread within Python's code
    for (;;) pause();
  } catch (...) {
    if (!raised) raised = std::current_exception();
    return false;
  }
}

}  // namespace rung::python
