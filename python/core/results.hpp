// Fresh arrays for a call's outputs, of NumPy or of PyTorch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include "core/arrays.hpp"
#include "core/handles.hpp"

namespace rung::python {

// An array, and what lends its memory: of NumPy another array where that has not the output's dtype, of PyTorch the
// address.
struct Made {
  nb::object array, memory;
  void* data = nullptr;
};

// Makes one output's arrays. What they are made with is looked up at the first.
class ResultMaker {
 public:
  explicit ResultMaker(const PortFacts& port) : port_(&port) {}
  // An empty array of that family, on `device`.
  Made make(Family family, rung_device device);

 private:
  Made make_numpy();
  Made make_torch(rung_device device);

  const PortFacts* port_;
  nb::object empty_, storage_, view_as_;    // NumPy's; view_as_: the dtype that only ml_dtypes has, or none
  nb::object new_on_host_, new_on_device_;  // PyTorch's new_empty() of a tensor of that dtype and device
};

}  // namespace rung::python
