// What the package asks of PyTorch, where a program uses it: it is never imported here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include "core/exchange.hpp"
#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

// Its objects that calls need, looked up once.
struct Torch {
  nb::object tensor_type, empty, raw_stream, current_stream, device_type, increment;
  bool is_rocm = false;
  Exchange exchange;  // false where this PyTorch has none

  // NULL as long as the program has not imported torch. Never freed: it outlives the interpreter's modules.
  static const Torch* loaded();
  bool is_tensor(nb::handle object) const;
  // The dtype object of that name; PyTorch's are ours.
  nb::object dtype(rung_dtype dtype) const;
  // The current stream of that device, as a CUstream.
  void* stream(rung_device device) const;
  // After a write into its memory. Nothing where this PyTorch has no way to say so, or the tensor no version.
  void increment_version(nb::handle tensor) const;
};

// object.name(), where `name` is interned.
nb::object call_method(nb::handle object, nb::handle name);

}  // namespace rung::python
