// A queue of work for a GPU, with a stream of its own. Work in one queue runs in order; queues of one device run beside
// each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/gpu/gpu.hpp"

namespace rung::gpu {

// Any one thread at a time may use it. Every function makes the device's context current by itself; whoever launches
// into stream() must hold a CurrentContext meanwhile.
class Queue {
 public:
  // Errors: the stream cannot be made.
  static Result<std::unique_ptr<Queue>> make(Gpu& gpu);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Gpu& gpu() const { return *gpu_; }
  Stream stream() const { return stream_; }

  Status upload(Address to, const void* from, size_t bytes);  // complete on return
  Status download(void* to, Address from, size_t bytes);      // runs after all work of the queue; complete on return
  Status fill(Address to, uint8_t value, size_t bytes);       // in order
  Status copy(Address to, Address from, size_t bytes);        // in order
  Status wait();                                              // returns when the queue is empty

 private:
  Queue(std::shared_ptr<Gpu> gpu, Stream stream) : gpu_(std::move(gpu)), stream_(stream) {}
  std::shared_ptr<Gpu> gpu_;
  Stream stream_;
};

}  // namespace rung::gpu
