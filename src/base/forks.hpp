// Tells a process from the one that it was forked from: objects with threads or a device are of no use in a child.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

// Returns the number of forks between this process and the one that first called it. Costs a load.
uint64_t fork_generation();

// Remembers the process that the object is made in.
class MadeIn {
 public:
  bool another_process() const { return generation_ != fork_generation(); }

 private:
  uint64_t generation_ = fork_generation();
};

}  // namespace rung
