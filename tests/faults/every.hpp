// Which of many places a fault is put into: a sample of them, or as many as RUNG_TEST_EVERY says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdlib>
#include <vector>

namespace rung {

// Places 1 to `count`: every k-th with RUNG_TEST_EVERY=k, else about `sample` of them, the first and last among them.
inline std::vector<long> sampled(long count, long sample = 100) {
  const char* every = std::getenv("RUNG_TEST_EVERY");
  const long step = every ? std::max(1L, std::atol(every)) : std::max(1L, count / sample);
  std::vector<long> places;
  for (long n = 1; n < count; n += step) places.push_back(n);
  places.push_back(count);
  return places;
}

}  // namespace rung
