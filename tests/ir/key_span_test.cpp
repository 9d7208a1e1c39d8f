// The number of pairs of a span, which costs and rooflines are made of.
// SPDX-License-Identifier: Apache-2.0
#include "ir/key_span.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

constexpr int64_t kQueries = 6, kKeys = 8;

int64_t counted(const KeySpan& span) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < kQueries; ++i)
    for (int64_t j = 0; j < kKeys; ++j) pairs += span.sees(i, j);
  return pairs;
}

// Windows on either side of all places, and prefixes up to all keys.
TEST(KeySpan, CountsThePairsThatItSees) {
  constexpr int64_t kAll = KeySpan::kAll;
  for (int64_t before : {-9, -2, 0, 1, 3, 20})
    for (int64_t after = -before; after < 12; ++after)
      for (int64_t prefix : {0, 2, 7, 30})
        for (const KeySpan& span :
             {KeySpan{before, after, prefix}, KeySpan{kAll, after, prefix}, KeySpan{before, kAll, prefix}})
          EXPECT_EQ(span.pairs(kQueries, kKeys), static_cast<double>(counted(span)))
              << "before=" << span.before << " after=" << span.after << " prefix=" << prefix;
  EXPECT_EQ(KeySpan{}.pairs(kQueries, kKeys), kQueries * kKeys);
}

}  // namespace
}  // namespace rung
