// Work spread over threads.
// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace rung {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (size_t threads : {size_t{0}, size_t{1}, size_t{3}, size_t{64}}) {
    std::vector<std::atomic<int>> calls(1000);
    parallel_for(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) ASSERT_EQ(count, 1) << threads;
  }
}

TEST(ParallelFor, DoesNothingWithoutWork) {
  parallel_for(0, 4, [](size_t) { FAIL(); });
}

TEST(ParallelFor, ThrowsWhatACallThrewAndBeginsNoFurtherOnes) {
  std::atomic<int> calls{0};
  auto work = [&](size_t i) {
    ++calls;
    if (i == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(parallel_for(100000, 2, work), std::runtime_error);
  EXPECT_LT(calls, 100000);
}

}  // namespace
}  // namespace rung
