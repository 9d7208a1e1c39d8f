// Numbers that link calls to the work that they started: one sequence for all processes of a recording, each of which
// starts its correlations at any number.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::trace {

class LinkNumbers {
 public:
  static constexpr uint32_t kMostProcesses = 31;
  static constexpr uint32_t kWindow = uint32_t{1} << 27;  // distance of correlations within a process

  // Returns 0 for no correlation (0 or less), or if there are too many processes.
  uint32_t of(int64_t process, int64_t correlation) {
    if (correlation <= 0) return 0;
    size_t number = 0;
    while (number < processes_.size() && processes_[number].id != process) ++number;
    if (number == kMostProcesses) return 0;
    if (number == processes_.size()) processes_.push_back({process, correlation});
    const auto offset = static_cast<uint64_t>(correlation) - static_cast<uint64_t>(processes_[number].first);
    return 1 + static_cast<uint32_t>(number) * kWindow + static_cast<uint32_t>(offset & (kWindow - 1));
  }

 private:
  struct Process {
    int64_t id, first;
  };
  std::vector<Process> processes_;
};

}  // namespace rung::trace
