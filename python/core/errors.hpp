// Statuses of the C interface as Python exceptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

// Throws the exception of rung._errors that a status is named after. The GIL is held.
[[noreturn]] void raise(rung_status status, const std::string& message);
// The same with the words of the calling thread's last error, unless the status is RUNG_OK.
inline void check(rung_status status) {
  if (status != RUNG_OK) raise(status, rung_error());
}

// What a str holds, which C takes as a text. Errors: UsageError, it is no str, or holds a NUL, at which C would end it,
// or a lone surrogate, which is no character.
std::string c_text_of(nb::handle text, const char* what);
// The same of a text that may hold NUL.
std::string utf8_of(nb::handle text, const char* what);
// A file's name as the system has it: of a str, bytes or os.PathLike. Errors: UsageError, another type, or a name that
// no file has.
std::string path_of(nb::handle path, const char* what);
// One that may be None.
class OptionalPath {
 public:
  OptionalPath(nb::handle path, const char* what) : given_(!path.is_none()), path_(given_ ? path_of(path, what) : "") {}
  const char* c_str() const { return given_ ? path_.c_str() : nullptr; }

 private:
  bool given_;
  std::string path_;
};

// str(object).
std::string text_of(nb::handle object);
// repr(object) in one line, cut off where it is long.
std::string shown(nb::handle object);

}  // namespace rung::python
