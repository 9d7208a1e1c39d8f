// Reads how many processors this process may use, by its mask and by the time that its control groups grant it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <string>

namespace rung {

struct Cores {
  int allowed = 0;                                         // by the mask; 0: unknown
  double quota = std::numeric_limits<double>::infinity();  // processors' worth of time: the least over its groups
  std::string quota_file;                                  // the file with that quota, without the root; empty: none

  bool limited() const { return !quota_file.empty(); }
  // Whole processors, at least one: a process with more threads than quota stands still at the end of each period.
  int usable() const;
};

// Reads proc/self/status and the control groups of proc/self/cgroup, of both versions, up to where they are mounted
// (proc/self/mountinfo), or the group at sys/fs/cgroup if these files name none. `root` is "/" or a folder laid out so.
Cores read_cores(const std::string& root);

// Returns the cores of this process and of the thread that asks first; they are read once.
const Cores& cores();
inline int usable_cores() { return cores().usable(); }

}  // namespace rung
