// The inputs that two sides of a comparison have in common, and the values that both are run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "open/open_model.hpp"

namespace rung::tasks {

// A side's inputs and outputs. An input that it was frozen at is one that it reads.
struct Ports {
  std::string device, fingerprint;  // "cuda:0", and what tells that device from others
  std::map<std::string, Type> inputs, outputs;
  NamedTensors frozen;
};
Ports ports_of(const Plan& plan);
Ports ports_of(const Subject& subject, const Target& target);

// Errors (mismatch): other devices, an input that one side has not or has of another type, one that both were frozen at
// and not at the same value, no output in common.
Status check_comparable(const Ports& a, const Ports& b);

// A value for every input of A: those given, what either side was frozen at, A's defaults, and samples for the rest.
NamedTensors shared_inputs(const Opened& a, const std::shared_ptr<const Plan>& plan, const NamedTensors& given,
                           const NamedTensors& frozen);

}  // namespace rung::tasks
