// Chooses a way for each copy, and uploads staged copies in pieces.
// SPDX-License-Identifier: Apache-2.0
#include "session/gpu_copies.hpp"

#include <algorithm>
#include <cstring>

#include "device/gpu/streaming_copy.hpp"

namespace rung {
namespace {

// The driver copies larger blocks faster than a launch would.
constexpr size_t kMostOverTheBus = size_t{64} << 10;
constexpr size_t kMostOnTheDevice = size_t{1} << 20;
// A piece is small, so that the last one, for which the device waits, arrives soon; it is large compared with the
// microseconds that an upload call takes.
constexpr size_t kPiece = size_t{512} << 10;

}  // namespace

Result<std::unique_ptr<GpuCopies>> GpuCopies::make(gpu::Gpu& gpu, const Plan& plan, gpu::Address arena) {
  RUNG_TRY(auto together, gpu::RangeCopies::make(gpu));
  return std::unique_ptr<GpuCopies>(new GpuCopies(gpu, plan, arena, std::move(together)));
}

Status GpuCopies::in(std::span<const CopyIn> copies, gpu::Stream stream) {
  begin();
  for (const CopyIn& copy : copies) RUNG_CHECK(copy_in(copy, stream));
  return end(stream);
}

Status GpuCopies::out(std::span<const CopyOut> copies, const FaultFlags* flags, gpu::Stream stream) {
  begin();
  for (const CopyOut& copy : copies) RUNG_CHECK(copy_out(copy.way, copy.to, buffer(copy.buffer), copy.bytes, stream));
  if (flags) RUNG_CHECK(copy_out(Way::own, flags->on_host(), flags->address(0), flags->bytes(), stream));
  return end(stream);
}

// Drops copies that an earlier error left behind.
void GpuCopies::begin() {
  if (together_) together_->clear();
}
Status GpuCopies::end(gpu::Stream stream) { return together_ ? together_->launch(stream) : Status{}; }

bool GpuCopies::goes_together(Way way, const void* at, size_t bytes) const {
  if (!together_ || way == Way::driver) return false;
  return way == Way::device ? bytes <= kMostOnTheDevice && reaches(at) : bytes <= kMostOverTheBus;
}

// Returns whether a kernel reaches this memory. If the caller's memory is not where they say, a kernel that reads it
// would fault and end the device for this process; the driver's copy returns an error instead, or copies.
bool GpuCopies::reaches(const void* at) const {
  const gpu::Runtime& runtime = gpu_.runtime();
  bool answer = false;
  return runtime.reaches && runtime.reaches(&answer, gpu::address_of(at)) == 0 && answer;
}

Status GpuCopies::add(gpu::Address to, gpu::Address from, size_t bytes, gpu::Stream stream) {
  if (together_->full()) RUNG_CHECK(together_->launch(stream));
  together_->add(to, from, bytes);
  return {};
}

Status GpuCopies::copy_in(const CopyIn& copy, gpu::Stream stream) {
  const gpu::Address to = buffer(copy.buffer);
  const bool together = goes_together(copy.way, copy.from, copy.bytes);
  if (copy.way == Way::staged) {
    if (!together) return upload_in_pieces(copy, stream);
    std::memcpy(copy.through, copy.from, copy.bytes);
    return add(to, gpu::address_of(copy.through), copy.bytes, stream);
  }
  if (together) return add(to, gpu::address_of(copy.from), copy.bytes, stream);
  if (copy.way != Way::device) return upload(to, copy.from, copy.bytes, stream);
  return gpu_.check(gpu_.runtime().copy(to, gpu::address_of(copy.from), copy.bytes, stream), "copy");
}

Status GpuCopies::copy_out(Way way, void* to, gpu::Address from, size_t bytes, gpu::Stream stream) {
  if (goes_together(way, to, bytes)) return add(gpu::address_of(to), from, bytes, stream);
  if (way == Way::device) return gpu_.check(gpu_.runtime().copy(gpu::address_of(to), from, bytes, stream), "copy");
  return gpu_.check(gpu_.runtime().download(to, from, bytes, stream), "download");
}

Status GpuCopies::upload(gpu::Address to, const void* from, size_t bytes, gpu::Stream stream) const {
  return gpu_.check(gpu_.runtime().upload(to, from, bytes, stream), "upload");
}

Status GpuCopies::upload_in_pieces(const CopyIn& copy, gpu::Stream stream) const {
  for (size_t at = 0; at < copy.bytes; at += kPiece) {
    const size_t bytes = std::min(kPiece, copy.bytes - at);
    gpu::copy_streaming(copy.through + at, static_cast<const std::byte*>(copy.from) + at, bytes);
    RUNG_CHECK(upload(buffer(copy.buffer) + at, copy.through + at, bytes, stream));
  }
  return {};
}

}  // namespace rung
