// Host memory that a device copies from and to by itself: the system does not move it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/gpu.hpp"

namespace rung::gpu {

class Pinned {
 public:
  // Takes zeroed memory from a page's begin. Errors: the system or the driver has no such memory.
  static Result<std::unique_ptr<Pinned>> make(Gpu& gpu, size_t bytes);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  Pinned(std::shared_ptr<Gpu> gpu, void* data) : gpu_(std::move(gpu)), data_(data) {}
  std::shared_ptr<Gpu> gpu_;
  void* data_;
};

}  // namespace rung::gpu
