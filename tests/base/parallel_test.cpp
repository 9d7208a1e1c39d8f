// Work spread over threads.
// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"
#include "base/cores.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace rung {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (size_t count : {size_t{1}, size_t{2}, size_t{1000}}) {
    std::vector<std::atomic<int>> calls(count);
    parallel_for(count, [&](size_t i) { ++calls[i]; });
    for (const auto& times : calls) ASSERT_EQ(times, 1) << count;
  }
}

TEST(ParallelFor, DoesNothingWithoutWork) {
  parallel_for(0, [](size_t) { FAIL(); });
}

TEST(ParallelFor, ThrowsWhatACallThrewAndThenStops) {
  std::atomic<int> calls{0};
  auto work = [&](size_t) {
    ++calls;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(parallel_for(1000, work), std::runtime_error);
  EXPECT_LE(calls, usable_cores());  // one on each thread
}

}  // namespace
}  // namespace rung
