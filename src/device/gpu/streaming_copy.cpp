// Copies with streaming stores on x86-64, with memcpy() elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/streaming_copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rung::gpu {

#if defined(__SSE2__)
namespace {

constexpr size_t kLine = 64;
constexpr size_t kParts = 4;  // read side by side, so that more lines are on their way than one stream prefetches

void stream_line(std::byte* to, const std::byte* from) {
  for (size_t at = 0; at < kLine; at += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
}

}  // namespace

void copy_streaming(std::byte* to, const std::byte* from, size_t bytes) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(to) % kLine == 0;
  const size_t part = is_aligned ? bytes / kParts / kLine * kLine : 0;
  for (size_t at = 0; at < part; at += kLine)
    for (size_t begin = 0; begin < kParts * part; begin += part) stream_line(to + begin + at, from + begin + at);
  std::memcpy(to + kParts * part, from + kParts * part, bytes - kParts * part);
  _mm_sfence();
}
#else
void copy_streaming(std::byte* to, const std::byte* from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace rung::gpu
