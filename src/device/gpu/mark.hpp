// A point in a stream for which the host and other streams wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/gpu.hpp"

namespace rung::gpu {

// Used by one thread at a time, with the device's context current. Until it is first set, nobody waits for it.
class Mark {
 public:
  static Result<std::unique_ptr<Mark>> make(Gpu& gpu);
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  Status set(Stream stream);              // behind what the stream holds now; it stands nowhere else then
  Status hold_back(Stream stream) const;  // what comes into the stream from now on
  Status wait() const;                    // the host

 private:
  Mark(std::shared_ptr<Gpu> gpu, Event event) : gpu_(std::move(gpu)), event_(event) {}
  std::shared_ptr<Gpu> gpu_;
  Event event_;
};

}  // namespace rung::gpu
