// Memory of the library's as arrays of Python's, which keep what owns it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

// An object of Python's that holds a shared handle for as long as an array needs it.
template <class T>
nb::object own(std::shared_ptr<T> handle) {
  using Handle = std::shared_ptr<T>;
  return nb::capsule(new Handle(std::move(handle)), [](void* held) noexcept { delete static_cast<Handle*>(held); });
}

// Host memory as a NumPy array (bfloat16 by ml_dtypes, or as uint16), a device's as an object with DLPack.
nb::object array_over(const rung_tensor& tensor, nb::handle owner);

}  // namespace rung::python
