// Executes a kernel of a code object on this processor, and reports its counts and defects.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "amdgpu/run/checks.hpp"
#include "amdgpu/run/count.hpp"
#include "amdgpu/run/defect.hpp"
#include "amdgpu/run/dispatch.hpp"
#include "base/status.hpp"

namespace rung::amdgpu {

struct Execution {
  static constexpr size_t kMostDefects = 16;
  Counts counts;
  // Defects in their order, one of a kind per instruction; races between groups stand last. A defect after which
  // nothing can go on ends the launch, and so do kMostDefects.
  std::vector<Defect> defects;
};

// Runs all groups on up to `threads` threads. Errors: an impossible dispatch (more threads than the kernel's bound, too
// much LDS, arguments of another size). A mistake of the kernel is a defect, not an error.
Result<Execution> execute(const Dispatch& dispatch, Memory& memory, const Checks& checks, int threads);

}  // namespace rung::amdgpu
