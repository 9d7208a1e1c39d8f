// Copies before and after a run on a GPU: small copies together as one launch, the others one by one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>

#include "kernels/gpu/copy/copy_ranges.hpp"
#include "plan/plan.hpp"
#include "session/fault_flags.hpp"
#include "session/run_copies.hpp"

namespace rung {

// Used by one thread at a time, with the device's context current.
class GpuCopies {
 public:
  // Copies between memory and the plan's buffers; `arena` is their address. Errors: those of RangeCopies::make().
  static Result<std::unique_ptr<GpuCopies>> make(gpu::Gpu& gpu, const Plan& plan, gpu::Address arena);

  // Copies into the plan's buffers in the stream. Staged memory has been read on return: the host copies it in pieces,
  // each of which is uploaded while the host copies the next.
  Status in(std::span<const CopyIn> copies, gpu::Stream stream);
  // Copies out, and copies the flags, if any, to the host for their check().
  Status out(std::span<const CopyOut> copies, const FaultFlags* flags, gpu::Stream stream);

 private:
  GpuCopies(gpu::Gpu& gpu, const Plan& plan, gpu::Address arena, std::unique_ptr<gpu::RangeCopies> together)
      : gpu_(gpu), plan_(plan), arena_(arena), together_(std::move(together)) {}
  gpu::Address buffer(uint32_t index) const { return arena_ + plan_.buffers[index].offset; }
  bool goes_together(Way way, const void* at, size_t bytes) const;
  bool reaches(const void* at) const;
  void begin();
  Status end(gpu::Stream stream);
  Status add(gpu::Address to, gpu::Address from, size_t bytes, gpu::Stream stream);
  Status copy_in(const CopyIn& copy, gpu::Stream stream);
  Status copy_out(Way way, void* to, gpu::Address from, size_t bytes, gpu::Stream stream);
  Status upload(gpu::Address to, const void* from, size_t bytes, gpu::Stream stream) const;
  Status upload_in_pieces(const CopyIn& copy, gpu::Stream stream) const;

  gpu::Gpu& gpu_;
  const Plan& plan_;
  const gpu::Address arena_;
  std::unique_ptr<gpu::RangeCopies> together_;  // null: this build has no kernels
};

}  // namespace rung
