// Bytes that are no bools are found wherever they stand, and named.
// SPDX-License-Identifier: Apache-2.0
#include "ir/bool_bytes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rung {
namespace {

TEST(BoolBytes, AreFoundAtEveryPlace) {
  for (size_t count : {1u, 4095u, 4096u, 4097u, 9000u})
    for (size_t at : {size_t{0}, count / 2, count - 1}) {
      std::vector<std::byte> bytes(count, std::byte{1});
      EXPECT_EQ(first_non_bool(bytes.data(), count), 0u);
      bytes[at] = std::byte{2};
      EXPECT_EQ(first_non_bool(bytes.data(), count), 2u) << at << " of " << count;
      EXPECT_EQ(first_non_bool(bytes.data(), at), 0u);
    }
}

TEST(BoolBytes, OfOtherTypesAreNotLookedAt) {
  const std::byte values[] = {std::byte{255}, std::byte{0}};
  EXPECT_TRUE(check_bools("input", "x", {DType::u8, {2}}, values));
  Status refused = check_bools("input", "x", {DType::boolean, {2}}, values);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::mismatch);
  EXPECT_EQ(
      refused.error().message,
      "input 'x': got the byte 255 in bool[2], wanted 0 or 1: bools are not any bytes; compare them with 0 first");
}

}  // namespace
}  // namespace rung
