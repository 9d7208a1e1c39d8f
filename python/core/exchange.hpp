// DLPack's table of C functions (its version 1.3), by which a library's arrays are read and made without a call of
// Python's. PyTorch has one from 2.10 on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

class Exchange {
 public:
  struct Table;

  // Of a type of arrays; false where that has no such table, or one of another major version.
  static Exchange of(nb::handle type);
  explicit operator bool() const { return table_ != nullptr; }

  // Shape and strides stay the array's. Errors: what the library raises.
  rung_tensor read(nb::handle array) const;
  // An empty array of `like`'s dtype, shape and device; `data` is where its values lie.
  nb::object make(const rung_tensor& like, void*& data) const;
  // The library's current stream of that device.
  void* stream(rung_device device) const;

 private:
  const Table* table_ = nullptr;
};

}  // namespace rung::python
