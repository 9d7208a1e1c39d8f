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

// str(object).
std::string text_of(nb::handle object);
// repr(object) in one line, cut off where it is long.
std::string shown(nb::handle object);

}  // namespace rung::python
