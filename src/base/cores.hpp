// How many processors this process may use: those of its mask, and the time that its control groups grant it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <string>

namespace rung {

struct Cores {
  int allowed = 0;                                         // by the mask; 0: unknown
  double quota = std::numeric_limits<double>::infinity();  // processors' worth of time: the least of its groups
  std::string quota_file;                                  // that says so, without the root; empty: none

  bool limited() const { return !quota_file.empty(); }
  // Whole processors, at least one: who runs more threads than it has time for stands still at the end of each period.
  int usable() const;
};

// Reads proc/self/status, the control groups of proc/self/cgroup, of both versions, up to where they are mounted
// (proc/self/mountinfo), or the group at sys/fs/cgroup where these do not say. `root` is "/" or a folder of that form.
Cores read_cores(const std::string& root);

// Cores of this process and the thread that asks first; read once.
const Cores& cores();
inline int usable_cores() { return cores().usable(); }

}  // namespace rung
