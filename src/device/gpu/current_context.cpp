// Makes a context current; does nothing if it is current already.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/current_context.hpp"

#include "device/gpu/gpu.hpp"

namespace rung::gpu {

CurrentContext::CurrentContext(const Gpu& gpu) : runtime_(gpu.runtime()) {
  Context now = nullptr;
  runtime_.context_current(&now);
  if (now == gpu.context()) return;
  runtime_.context_use(gpu.context());
  before_ = now;
}

CurrentContext::~CurrentContext() {
  if (before_) runtime_.context_use(before_);
}

}  // namespace rung::gpu
