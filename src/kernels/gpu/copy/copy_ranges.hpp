// Copies of several ranges of memory in one launch, to and from a plan's buffers: each copy by the driver takes the
// host as long as a launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/gpu.hpp"
#include "kernels/gpu/copy/copy_ranges_arguments.hpp"

namespace rung::gpu {

// Only one thread at a time may use an object.
class RangeCopies {
 public:
  // Loads the kernel, so that nothing is loaded later. Null: this build has none for the device. Errors: the kernel
  // cannot be loaded.
  static Result<std::unique_ptr<RangeCopies>> make(Gpu& gpu);

  bool full() const { return count_ == kCopiedRanges; }
  void clear() { count_ = 0, longest_ = 0; }
  // Adds a range to the next launch, which must not be full. Each address is in the device's memory or in pinned memory
  // of the host.
  void add(Address to, Address from, size_t bytes);
  // Launches the copies added since the last launch, if any; the device's context must be current.
  Status launch(Stream stream);

 private:
  RangeCopies(Gpu& gpu, Function function) : gpu_(gpu), function_(function) {}
  Gpu& gpu_;
  Function function_;
  CopyRangesArguments arguments_{};
  uint32_t count_ = 0;
  uint64_t longest_ = 0;  // bytes
};

}  // namespace rung::gpu
