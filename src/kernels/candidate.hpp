// A kernel row with values of its parameters: what a recipe names and the tuner tries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/choice.hpp"
#include "kernels/target.hpp"

namespace rung {

struct KernelCandidate {
  const Kernel* kernel = nullptr;
  Params params;  // empty: the kernel's defaults
  KernelChoice choice() const { return {std::string(kernel->name), params}; }
};

// Parameters that come from a file: each must be one that the kernel offers for the problem, at a value that it offers.
Verdict takes_params(const Target& target, const Kernel& kernel, const Problem& problem, const Params& params);

}  // namespace rung
