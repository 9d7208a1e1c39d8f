// Executes a kernel of a code object on this processor, and tells what it did and what is wrong with it.
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
  // In their order, each instruction's of a kind once; races between groups stand last. One behind which nothing can go
  // on ends the launch, as kMostFindings do.
  std::vector<Finding> findings;
};

// Runs all groups, on as many threads as `threads` says. Errors: a dispatch that cannot be meant (more threads than the
// kernel's bound, too much LDS, arguments of another size). What the kernel does wrong is a finding, not an error.
Result<Execution> execute(const Dispatch& dispatch, Memory& memory, const Checks& checks, int threads);

}  // namespace rung::amdgpu
