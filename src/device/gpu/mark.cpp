// Implements marks as events without a time, which cost streams least.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/mark.hpp"

#include "device/gpu/current_context.hpp"

namespace rung::gpu {

Result<std::unique_ptr<Mark>> Mark::make(Gpu& gpu) {
  const CurrentContext current(gpu);
  Event event = nullptr;
  RUNG_CHECK(gpu.check(gpu.runtime().event_create_untimed(&event), "event"));
  return std::unique_ptr<Mark>(new Mark(gpu.shared_from_this(), event));
}

Mark::~Mark() {
  const CurrentContext current(*gpu_);
  gpu_->runtime().event_destroy(event_);
}

Status Mark::set(Stream stream) { return gpu_->check(gpu_->runtime().event_record(event_, stream), "event"); }

Status Mark::hold_back(Stream stream) const {
  return gpu_->check(gpu_->runtime().stream_wait(stream, event_), "ordering streams");
}

Status Mark::wait() const {
  gpu_->count(Chore::wait);
  return gpu_->check(gpu_->runtime().event_synchronize(event_), "waiting for the device");
}

}  // namespace rung::gpu
