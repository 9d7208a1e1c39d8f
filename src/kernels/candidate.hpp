// A candidate: a kernel row with values of its parameters, which a recipe names and the tuner tries.
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

// Accepts parameters from a file if the kernel offers each of them for the problem, at its value.
Verdict takes_params(const Target& target, const Kernel& kernel, const Problem& problem, const Params& params);

}  // namespace rung
