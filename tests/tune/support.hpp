// Problems for tests of the tuner.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/kernel.hpp"
#include "kernels/problem_key.hpp"
#include "support/problems.hpp"
#include "support/temporary_directory.hpp"
#include "tune/tuner.hpp"

namespace rung {

inline TuneTask linear_task(int64_t m, int64_t n, int64_t k) {
  Problem problem = linear_problem(m, n, k);
  return {.key = problem_key(problem), .problem = problem};
}

inline TuningDatabase open_database(const std::string& path) {
  auto database = TuningDatabase::open(path, "test device");
  EXPECT_TRUE(database) << database.error().message;
  return std::move(*database);
}

inline TuneOptions with_seconds(double seconds) {
  return {.seconds_left = [seconds] { return seconds; }, .interrupted = [] { return false; }, .progress = {}};
}

}  // namespace rung
