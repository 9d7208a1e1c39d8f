// The C interface's handles as objects that free themselves, and what a model says of its inputs and outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "core/dtypes.hpp"
#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

using ModelHandle = std::shared_ptr<rung_model>;
using SessionHandle = std::shared_ptr<rung_session>;

// An input or an output, with the Python objects that calls need of it. It keeps no model open.
struct PortFacts {
  rung_port port{};  // its name and shape are those below
  const NamedType* type = nullptr;
  nb::object name;         // interned
  nb::object shape;        // tuple of int
  nb::object public_port;  // rung.Port
  std::unique_ptr<int64_t[]> extents;
};

// A model's inputs and outputs, and its device.
struct ModelFacts {
  std::vector<PortFacts> inputs, outputs;
  rung_device device{};
  nb::object input_map, output_map;  // read-only mappings of a name to its rung.Port

  bool on_gpu() const { return device.type == RUNG_CUDA || device.type == RUNG_ROCM; }
  std::string device_word() const;
};

std::shared_ptr<const ModelFacts> read_facts(const rung_model* model);
// Of each plan that the model holds, in its order.
std::vector<std::shared_ptr<const ModelFacts>> read_plans(const rung_model* model);

}  // namespace rung::python
