// Tells a process from the one that it was forked from: what has threads or a device is of no use in a child.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

// How many forks lie between this process and the one in which it was first asked. Costs a load.
uint64_t fork_generation();

// Remembers the process that it is made in.
class MadeIn {
 public:
  bool another_process() const { return generation_ != fork_generation(); }

 private:
  uint64_t generation_ = fork_generation();
};

}  // namespace rung
