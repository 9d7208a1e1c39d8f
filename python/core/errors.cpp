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

}  // namespace rung::python
