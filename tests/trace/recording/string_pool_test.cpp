// Strings have one number each.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/string_pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace rung::trace {
namespace {

TEST(StringPool, TheFirstIsEmpty) {
  const StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool[0], "");
  EXPECT_EQ(pool.find(""), 0u);
  EXPECT_EQ(pool.find("a"), std::nullopt);
}

TEST(StringPool, EqualStringsHaveOneNumber) {
  StringPool pool;
  const uint32_t a = pool.number_of("a"), b = pool.number_of(std::string("b\0c", 3));
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.number_of("a"), a);
  EXPECT_EQ(pool.number_of(""), 0u);
  EXPECT_EQ(pool[b], std::string("b\0c", 3));
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, NumbersSurviveGrowthAndMoves) {
  StringPool pool;
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(pool.number_of(std::to_string(i)), static_cast<uint32_t>(i + 1));
  StringPool moved = std::move(pool);
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(moved.find(std::to_string(i)), static_cast<uint32_t>(i + 1));
  EXPECT_EQ(moved[1], "0");
}

}  // namespace
}  // namespace rung::trace
