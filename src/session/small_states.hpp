// Small states of a plan on a GPU, to be written back between runs of single steps that are timed and serve nobody.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>
#include <vector>

#include "device/gpu/queue.hpp"
#include "plan/plan.hpp"
#include "session/states.hpp"

namespace rung {

class SmallStates {
 public:
  // Copies the values of states of at most 4 KiB that have an initial value, such as a position in a text. The device's
  // context is current. Errors: the device failed.
  static Result<SmallStates> of(gpu::Queue& queue, const Plan& plan, const States& states);
  // Waits for the queue, then writes them back. Errors: the device failed.
  Status restore(gpu::Queue& queue) const;
  bool empty() const { return values_.empty(); }

 private:
  std::vector<std::pair<gpu::Address, std::vector<std::byte>>> values_;
};

}  // namespace rung
