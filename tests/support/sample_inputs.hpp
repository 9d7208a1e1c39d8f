// Inputs of a model as its importer samples them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/model.hpp"

namespace rung {

inline NamedTensors sample_inputs(const Model& model, uint64_t seed) {
  NamedTensors all;
  for (const auto& [name, rule] : model.defaults) all.emplace(name, rule.sample(seed));
  return all;
}

}  // namespace rung
