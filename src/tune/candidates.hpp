// Lists the candidates for a problem: every kernel row that supports it, with the parameter values worth trying.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/candidate.hpp"

namespace rung {

struct Refused {
  std::string kernel, reason;
};

struct Candidates {
  std::vector<KernelCandidate>
      list;  // the library's default first, then rows in order of preference, then their variants
  std::vector<Refused> refused;
};

// States which rows of a target are candidates: all, or only those that call a GEMM library, as other stacks can.
enum class Rows : uint8_t { all, library };

// Omits fallbacks if any other row can run the problem. Variants change one parameter at a time from the defaults.
Candidates candidates_for(const Target& target, const Problem& problem, Rows rows = Rows::all);

}  // namespace rung
