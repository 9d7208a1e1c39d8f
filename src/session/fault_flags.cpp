// Lowers flags after a run only if one was raised; the copy of the flags shares the run's one wait.
// SPDX-License-Identifier: Apache-2.0
#include "session/fault_flags.hpp"

#include <cstring>
#include <span>

#include "ir/fault.hpp"
#include "session/recorder.hpp"

namespace rung {

Result<std::unique_ptr<FaultFlags>> FaultFlags::make(gpu::Queue& queue, const Plan& plan) {
  std::unique_ptr<FaultFlags> made(new FaultFlags(queue, plan));
  const size_t bytes = plan.steps.size() * sizeof(Fault);
  RUNG_TRY(made->on_device_, queue.gpu().allocate(bytes));
  RUNG_TRY(made->on_host_, gpu::Pinned::make(queue.gpu(), bytes));
  RUNG_CHECK(queue.fill(made->on_device_->address(), 0, bytes));
  return made;
}

gpu::Address FaultFlags::address(size_t launch) const { return on_device_->address() + launch * sizeof(Fault); }

Status FaultFlags::check() {
  std::span flags(reinterpret_cast<const Fault*>(on_host_->data()), plan_.steps.size());
  Status status;
  for (size_t i = 0; i < flags.size() && status; ++i) status = check_fault(flags[i], plan_.steps[i]);
  if (!status) RUNG_CHECK(lower());
  return status;
}

Status FaultFlags::lower() {
  left_ = true;
  std::memset(on_host_->data(), 0, on_device_->bytes());
  RUNG_CHECK(queue_.fill(on_device_->address(), 0, on_device_->bytes()));
  RUNG_CHECK(queue_.wait());
  left_ = false;
  return {};
}

}  // namespace rung
