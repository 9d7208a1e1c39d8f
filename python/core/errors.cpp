// Finds the exception's class.
// SPDX-License-Identifier: Apache-2.0
#include "core/errors.hpp"

namespace rung::python {
namespace {

const char* class_of(rung_status status) {
  switch (status) {
    case RUNG_USAGE:
      return "UsageError";
    case RUNG_FILE:
      return "FileError";
    case RUNG_DEVICE:
      return "DeviceError";
    case RUNG_MEMORY:
      return "OutOfMemoryError";
    case RUNG_MISMATCH:
      return "MismatchError";
    case RUNG_INTERRUPTED:
      return "ClimbInterrupted";
    default:
      return "Error";
  }
}

}  // namespace

void raise(rung_status status, const std::string& message) {
  nb::object type = nb::module_::import_("rung._errors").attr(class_of(status));
  PyErr_SetObject(type.ptr(), nb::str(message.c_str(), message.size()).ptr());
  throw nb::python_error();
}

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

// Long sequences and NumPy's arrays, which take a line for each row, are given as options by mistake.
std::string shown(nb::handle object) {
  constexpr int kMost = 80;
  nb::object text = nb::str(" ").attr("join")(nb::repr(object).attr("split")());
  if (nb::len(text) <= kMost) return text_of(text);
  return text_of(text[nb::slice(0, kMost - 4)]) + " ...";
}

}  // namespace rung::python
