// The stacks of the tool's threads: kernels keep tiles of their work on them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"

namespace rung::cli {

// Raises a small limit of this process (`ulimit -s`), and the size of stacks of threads that start later.
// Errors (usage): the limit may not be raised to what kernels need.
Status ensure_stack();

}  // namespace rung::cli
