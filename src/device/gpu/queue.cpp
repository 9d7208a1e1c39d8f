// Implements copies, fills and waits of one stream.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/queue.hpp"

#include "device/gpu/current_context.hpp"

namespace rung::gpu {

Result<std::unique_ptr<Queue>> Queue::make(Gpu& gpu) {
  const CurrentContext current(gpu);
  Stream stream = nullptr;
  RUNG_CHECK(gpu.check(gpu.runtime().stream_create(&stream), "creating a stream"));
  return std::unique_ptr<Queue>(new Queue(gpu.shared_from_this(), stream));
}

Queue::~Queue() {
  const CurrentContext current(*gpu_);
  gpu_->runtime().stream_destroy(stream_);
}

Status Queue::upload(Address to, const void* from, size_t bytes) {
  const CurrentContext current(*gpu_);
  gpu_->count(Chore::copy);
  RUNG_CHECK(gpu_->check(gpu_->runtime().upload(to, from, bytes, stream_), "upload"));
  return wait();
}

Status Queue::download(void* to, Address from, size_t bytes) {
  const CurrentContext current(*gpu_);
  gpu_->count(Chore::copy);
  RUNG_CHECK(gpu_->check(gpu_->runtime().download(to, from, bytes, stream_), "download"));
  return wait();
}

Status Queue::fill(Address to, uint8_t value, size_t bytes) {
  const CurrentContext current(*gpu_);
  return gpu_->check(gpu_->runtime().fill(to, value, bytes, stream_), "fill");
}

Status Queue::copy(Address to, Address from, size_t bytes) {
  const CurrentContext current(*gpu_);
  return gpu_->check(gpu_->runtime().copy(to, from, bytes, stream_), "copy");
}

Status Queue::wait() {
  const CurrentContext current(*gpu_);
  gpu_->count(Chore::wait);
  return gpu_->check(gpu_->runtime().stream_synchronize(stream_), "waiting for the device");
}

}  // namespace rung::gpu
