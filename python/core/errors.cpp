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
  // A path in it may be no UTF-8.
  nb::object words =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
  PyErr_SetObject(type.ptr(), words.ptr());
  throw nb::python_error();
}

namespace {

std::string without_nul(std::string text, const char* what) {
  if (text.find('\0') == std::string::npos) return text;
  raise(RUNG_USAGE, std::string(what) + ": got a text with a NUL in it");
}

}  // namespace

std::string c_text_of(nb::handle text, const char* what) { return without_nul(utf8_of(text, what), what); }

std::string utf8_of(nb::handle text, const char* what) {
  if (!PyUnicode_Check(text.ptr())) raise(RUNG_USAGE, std::string(what) + ": got " + shown(text) + ", wanted a str");
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes) return std::string(bytes, static_cast<size_t>(size));
  PyErr_Clear();
  raise(RUNG_USAGE, std::string(what) + ": got " + shown(nb::repr(text)) +
                        ", which holds a lone surrogate: text.encode('utf-8', 'replace').decode() has '?' for it");
}

std::string path_of(nb::handle path, const char* what) {
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &bytes)) {
    nb::python_error error;
    raise(RUNG_USAGE, std::string(what) + ": got " + shown(path) +
                          ", wanted the name of a file: a str, bytes or an "
                          "os.PathLike (" +
                          text_of(error.value()) + ")");
  }
  nb::object owned = nb::steal(bytes);
  return std::string(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
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
