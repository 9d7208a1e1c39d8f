// A point in a stream for which the host and other streams wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/gpu.hpp"

namespace rung::gpu {

// One thread at a time may use it, with the device's context current. Until it is first set, nobody waits for it.
class Mark {
 public:
  static Result<std::unique_ptr<Mark>> make(Gpu& gpu);
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  Status set(Stream stream);              // moves it behind what the stream holds now
  Status hold_back(Stream stream) const;  // makes work put into the stream from now on wait
  Status wait() const;                    // makes the host wait

 private:
  Mark(std::shared_ptr<Gpu> gpu, Event event) : gpu_(std::move(gpu)), event_(event) {}
  std::shared_ptr<Gpu> gpu_;
  Event event_;
};

}  // namespace rung::gpu
