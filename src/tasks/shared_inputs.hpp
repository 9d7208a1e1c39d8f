// Finds the inputs that two sides of a comparison share, and the values on which both run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "open/open_model.hpp"

namespace rung::tasks {

// A side's inputs and outputs. Frozen inputs count as inputs that it reads.
struct Ports {
  std::string device, fingerprint;  // "cuda:0", and the fingerprint that tells that device from others
  std::map<std::string, Type> inputs, outputs;
  NamedTensors frozen;
};
Ports ports_of(const Plan& plan);
Ports ports_of(const Subject& subject, const Target& target);

// Errors (mismatch): different devices, an input that one side lacks or has with another type, an input frozen at
// different values, no output in common.
Status check_comparable(const Ports& a, const Ports& b);

// Returns a value for every input of A: given values, either side's frozen values, A's defaults, else samples.
NamedTensors shared_inputs(const Opened& a, const std::shared_ptr<const Plan>& plan, const NamedTensors& given,
                           const NamedTensors& frozen);

}  // namespace rung::tasks
