// copy_streaming() beside memcpy(): every length around its lines and parts, aligned or not, and nothing beside it.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/streaming_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rung::gpu {
namespace {

constexpr std::byte kUntouched{0xEE};
constexpr size_t kRoom = 64;

std::vector<std::byte> numbered(size_t bytes) {
  std::vector<std::byte> values(bytes);
  for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i * 31 + i / 251);
  return values;
}

// Copies to `shift` bytes after a line's begin, and looks at the whole memory.
void expect_copied(size_t bytes, size_t shift) {
  SCOPED_TRACE(::testing::Message() << bytes << " bytes, " << shift << " after a line's begin");
  const std::vector<std::byte> from = numbered(bytes);
  std::vector<std::byte> memory(bytes + 3 * kRoom, kUntouched);
  const size_t aligned = (kRoom - reinterpret_cast<uintptr_t>(memory.data()) % kRoom) % kRoom;
  copy_streaming(memory.data() + aligned + shift, from.data(), bytes);
  std::vector<std::byte> wanted(memory.size(), kUntouched);
  std::copy(from.begin(), from.end(), wanted.begin() + static_cast<std::ptrdiff_t>(aligned + shift));
  EXPECT_EQ(memory, wanted);
}

TEST(StreamingCopy, CopiesEveryLength) {
  for (size_t bytes : {0u, 1u, 63u, 64u, 255u, 256u, 257u, 319u, 511u, 512u, 4096u + 77u, 1806336u})
    expect_copied(bytes, 0);
}

TEST(StreamingCopy, CopiesToAnyAddress) {
  for (size_t shift : {1u, 8u, 16u, 33u}) expect_copied(5000, shift);
}

}  // namespace
}  // namespace rung::gpu
