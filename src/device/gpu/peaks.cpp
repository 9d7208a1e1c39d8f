// Measures peaks with the library's GEMM and the driver's copy, timed with events.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/peaks.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "device/gpu/current_context.hpp"
#include "device/gpu/gemm_library.hpp"
#include "device/gpu/queue.hpp"

namespace rung::gpu {
namespace {

constexpr int kRepeats = 8;
constexpr size_t kLeastCopyBytes = size_t{1} << 20, kMostCopyBytes = size_t{512} << 20;

// Returns the best of several times, in milliseconds.
Result<double> best_ms(Queue& queue, const std::function<Status()>& enqueue) {
  const Gpu& gpu = queue.gpu();
  const Runtime& runtime = gpu.runtime();
  Event start = nullptr, end = nullptr;
  RUNG_CHECK(gpu.check(runtime.event_create(&start), "event"));
  RUNG_CHECK(gpu.check(runtime.event_create(&end), "event"));
  double best = std::numeric_limits<double>::infinity();
  Status status;
  for (int i = 0; i < kRepeats && status; ++i) {
    runtime.event_record(start, queue.stream());
    status = enqueue();
    runtime.event_record(end, queue.stream());
    if (status) status = queue.wait();
    float ms = 0;
    if (status) status = gpu.check(runtime.event_elapsed_ms(&ms, start, end), "event");
    if (status) best = std::min(best, double{ms});
  }
  runtime.event_destroy(start);
  runtime.event_destroy(end);
  RUNG_CHECK(Status(status));
  return best;
}

// Fills operands with spread values: a product of zeros draws less power and runs faster than one of data.
Status fill_random(Queue& queue, Address to, size_t bytes, DType dtype) {
  constexpr size_t kPattern = size_t{1} << 20;
  std::vector<uint16_t> pattern(kPattern);
  uint32_t bits = 1;
  for (size_t i = 0; i < kPattern; ++i) {
    bits = bits * 1664525u + 1013904223u;
    uint16_t sign = static_cast<uint16_t>(bits >> 16) & 0x8000, fraction = static_cast<uint16_t>(bits >> 20) & 0x7F;
    bool high_half = dtype != DType::f32 || i % 2 == 1;  // of an f32, little-endian
    pattern[i] = high_half ? static_cast<uint16_t>(sign | 0x3F00 | fraction) : static_cast<uint16_t>(bits >> 8);
  }
  for (size_t at = 0; at < bytes; at += kPattern * 2)
    RUNG_CHECK(queue.upload(to + at, pattern.data(), std::min(kPattern * 2, bytes - at)));
  return {};
}

Result<double> gemm_gflops(const GemmLibrary& library, Queue& queue, DType dtype, int64_t size) {
  RUNG_TRY(auto prepared, library.prepare({.x = dtype,
                                           .w = dtype,
                                           .out = dtype,
                                           .m = size,
                                           .n = size,
                                           .k = size,
                                           .x_stride = size,
                                           .w_stride = size,
                                           .out_stride = size}));
  size_t bytes = static_cast<size_t>(size * size) * size_of(dtype);
  RUNG_TRY(auto block, queue.gpu().allocate(3 * bytes + kLibraryWorkspaceBytes));
  RUNG_CHECK(fill_random(queue, block->address(), 2 * bytes, dtype));
  LibraryOperands operands{.x = block->address(),
                           .w = block->address() + bytes,
                           .out = block->address() + 2 * bytes,
                           .workspace = block->address() + 3 * bytes};
  RUNG_TRY(double ms, best_ms(queue, [&] { return prepared->enqueue(operands, queue.stream()); }));
  return 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size) / ms * 1e-6;
}

}  // namespace

Result<GpuPeaks> measure_peaks(Gpu& gpu, const GemmLibrary* library) {
  if (gpu.info().counts_instructions) return GpuPeaks{};  // there is no rate without time
  const size_t bytes = std::clamp(gpu.info().memory_bytes / 64, kLeastCopyBytes, kMostCopyBytes);
  const CurrentContext current(gpu);
  RUNG_TRY(auto queue, Queue::make(gpu));
  GpuPeaks peaks;
  RUNG_TRY(auto block, gpu.allocate(2 * bytes));
  Address from = block->address(), to = from + bytes;
  RUNG_TRY(double ms, best_ms(*queue, [&] { return queue->copy(to, from, bytes); }));
  peaks.read_gbps = 2.0 * static_cast<double>(bytes) / ms * 1e-6;
  if (!library) return peaks;
  RUNG_TRY(peaks.gemm_bf16_gflops, gemm_gflops(*library, *queue, DType::bf16, 8192));
  RUNG_TRY(peaks.gemm_f32_gflops, gemm_gflops(*library, *queue, DType::f32, 4096));
  return peaks;
}

}  // namespace rung::gpu
