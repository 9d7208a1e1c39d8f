// Hashes are those of the published algorithm: files hold them.
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

// XXH3's own test vector of no bytes.
TEST(Hash, IsThePublishedOne) { EXPECT_EQ(hash_text(""), 0x2d06800538d394c2u); }

TEST(Hash, DependsOnEveryByteLengthAndSeed) {
  std::string text(200, 'a');
  const uint64_t whole = hash_text(text);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'b';
    EXPECT_NE(hash_text(other), whole) << i;
  }
  EXPECT_NE(hash_text(text.substr(1)), whole);
  EXPECT_NE(hash_text(text, 1), whole);
  EXPECT_EQ(hash_bytes(text.data(), text.size(), 1), hash_text(text, 1));
}

TEST(Hash, IsWrittenInSixteenDigits) {
  EXPECT_EQ(hex64(0), "0000000000000000");
  EXPECT_EQ(hex64(0xabc), "0000000000000abc");
  EXPECT_EQ(hex64(UINT64_MAX), "ffffffffffffffff");
}

}  // namespace
}  // namespace rung
