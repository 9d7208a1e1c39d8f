// Copies of several ranges of memory as one launch, for what surrounds a plan: each copy of the driver's takes the host
// as long as a launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/gpu.hpp"
#include "kernels/gpu/copy/copy_ranges_arguments.hpp"

namespace rung::gpu {

// Used by one thread at a time.
class RangeCopies {
 public:
  // With the kernel ready, so that nothing is loaded later. Null where this build has none for the device. Errors: it
  // cannot be loaded.
  static Result<std::unique_ptr<RangeCopies>> make(Gpu& gpu);

  bool full() const { return count_ == kCopiedRanges; }
  void clear() { count_ = 0, longest_ = 0; }
  // One more for the next launch, which must not be full. Each address is the device's or that of pinned memory of the
  // host.
  void add(Address to, Address from, size_t bytes);
  // Launches what was added since the last time, if anything was; with the device's context current.
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
