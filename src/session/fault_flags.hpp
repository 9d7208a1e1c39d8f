// Holds the flags that a plan's launches on a GPU raise, and brings them to the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/pinned.hpp"
#include "device/gpu/queue.hpp"
#include "plan/plan.hpp"

namespace rung {

class FaultFlags {
 public:
  // Makes one flag for each of the plan's launches; all are lowered once the queue is empty. Errors: no memory.
  static Result<std::unique_ptr<FaultFlags>> make(gpu::Queue& queue, const Plan& plan);
  gpu::Address address(size_t launch) const;
  // Host copy of all flags, which begin at address(0) on the device; check() reads it after the caller made the copy.
  std::byte* on_host() const { return on_host_->data(); }
  size_t bytes() const { return on_device_->bytes(); }
  // Returns the error of the first flag raised in the last copy, and lowers all flags on the device if one was raised.
  Status check();
  // Lowers all flags, and waits for the device: the next run may be in another stream.
  Status lower();
  // Call after launches that ran alone, on values that others left there: what they raised is no run's.
  void disown() { left_ = true; }
  // Call before a run: lowers flags that check() could not lower, and those that are no run's.
  Status lower_those_left() { return left_ ? lower() : Status{}; }

 private:
  FaultFlags(gpu::Queue& queue, const Plan& plan) : queue_(queue), plan_(plan) {}
  gpu::Queue& queue_;
  const Plan& plan_;
  std::shared_ptr<gpu::Block> on_device_;
  std::unique_ptr<gpu::Pinned> on_host_;
  bool left_ = false;  // flags may be raised on the device that are not the next run's
};

}  // namespace rung
