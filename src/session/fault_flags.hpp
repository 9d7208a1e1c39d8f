// The flags that a plan's launches on a GPU raise, and their way to the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/pinned.hpp"
#include "device/gpu/queue.hpp"
#include "plan/plan.hpp"

namespace rung {

class FaultFlags {
 public:
  // One for each of the plan's launches, none raised once the queue is empty. Errors: no memory.
  static Result<std::unique_ptr<FaultFlags>> make(gpu::Queue& queue, const Plan& plan);
  gpu::Address address(size_t launch) const;
  // All of them begin at address(0). Who copies them there lets check() look.
  std::byte* on_host() const { return on_host_->data(); }
  size_t bytes() const { return on_device_->bytes(); }
  // The first that was raised when the last copy was made. They stay up until this lowers them.
  Status check();
  // Before a run: lowers those that check() found and could not lower: they are not the run's.
  Status lower_those_left() { return left_ ? lower() : Status{}; }

 private:
  FaultFlags(gpu::Queue& queue, const Plan& plan) : queue_(queue), plan_(plan) {}
  Status lower();
  gpu::Queue& queue_;
  const Plan& plan_;
  std::shared_ptr<gpu::Block> on_device_;
  std::unique_ptr<gpu::Pinned> on_host_;
  bool left_ = false;  // some were raised, and not lowered on the device
};

}  // namespace rung
