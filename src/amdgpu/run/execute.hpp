// Executes a kernel of a code object on this processor, and reports its counts and findings.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "amdgpu/run/checks.hpp"
#include "amdgpu/run/count.hpp"
#include "amdgpu/run/dispatch.hpp"
#include "amdgpu/run/finding.hpp"
#include "base/status.hpp"

namespace rung::amdgpu {

struct Execution {
  static constexpr size_t kMostFindings = 16;
  Counts counts;
  // Findings in their order, one of a kind per instruction; races between groups stand last. A finding after which
  // nothing can go on ends the launch, and so do kMostFindings.
  std::vector<Finding> findings;
};

// Runs all groups on up to `threads` threads. Errors: an impossible dispatch (more threads than the kernel's bound, too
// much LDS, arguments of another size). A mistake of the kernel is a finding, not an error.
Result<Execution> execute(const Dispatch& dispatch, Memory& memory, const Checks& checks, int threads);

}  // namespace rung::amdgpu
