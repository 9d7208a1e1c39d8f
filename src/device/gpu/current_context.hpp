// Makes a device's context current on the calling thread: a runtime takes calls only if it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/runtime.hpp"

namespace rung::gpu {

class Gpu;

// Makes the context of a device current on this thread as long as it lives. Afterwards the context that was current
// before is current again, so that a host which uses the device by itself finds its own; if there was none, ours stays.
// Nested ones cost a look at a thread-local value of the driver. If the context cannot be made current, the next call
// of the runtime says so.
class CurrentContext {
 public:
  explicit CurrentContext(const Gpu& gpu);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Runtime& runtime_;
  Context before_ = nullptr;  // the context to be current again; null: nothing to do
};

}  // namespace rung::gpu
