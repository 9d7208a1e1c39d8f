// What could run a problem: every kernel row that says yes, with the values of its parameters worth trying.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/choice.hpp"
#include "kernels/target.hpp"

namespace rung {

struct KernelCandidate {
  const Kernel* kernel = nullptr;
  Params params;  // empty: the kernel's defaults
  KernelChoice choice() const { return {std::string(kernel->name), params}; }
};

struct Refused {
  std::string kernel, reason;
};

struct Candidates {
  std::vector<KernelCandidate>
      list;  // the library's default first, then rows in order of preference, then their variants
  std::vector<Refused> refused;
};

// Which of a target's rows are asked: all, or those alone that call a GEMM library, as other stacks can.
enum class Rows : uint8_t { all, library };

// Fallbacks are left out while any other row can run the problem. Variants change one parameter at a time
// from the defaults.
Candidates candidates_for(const Target& target, const Problem& problem, Rows rows = Rows::all);

// Parameters that come from a file: each must be one that the kernel offers for the problem, at a value that it offers.
Verdict takes_params(const Target& target, const Kernel& kernel, const Problem& problem, const Params& params);

}  // namespace rung
