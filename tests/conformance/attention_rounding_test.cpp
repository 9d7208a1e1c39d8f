// How near to the exact result attention in f16 is on AMD's machine code, where its weights are rounded to f16.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "gpu_harness.hpp"
#include "reference/values.hpp"
#include "support/device.hpp"

namespace rung::test {
namespace {

// Returns the largest distance in units in the last place of f16.
double largest_distance(const Tensor& got, const Tensor& exact) {
  const Tensor wide = convert(got, DType::f32);
  double largest = 0;
  for (size_t i = 0; i < exact.as<float>().size(); ++i) {
    const double value = exact.as<float>()[i], unit = std::exp2(std::floor(std::log2(value)) - 10);
    largest = std::max(largest, std::abs(wide.as<float>()[i] - value) / unit);
  }
  return largest;
}

// Few keys with values of one sign: errors of weights do not vanish among others. A sum of the weights before they are
// rounded would give 0.9 units.
TEST(AttentionRounding, CountsWeightsAsProductsTakeThem) {
  auto target = open_target("emu:gfx942");
  if (!target) GTEST_SKIP() << target.error().message;
  const Case test = make_case(
      "result = attention(positive_q:f16[8,16,8,8], positive_k:f16[8,6,8,8], positive_v:f16[8,6,8,8], scale=0.35)");
  const Case exact = make_case(
      "result = attention(cast(positive_q:f16[8,16,8,8], to=f32), cast(positive_k:f16[8,6,8,8], to=f32), "
      "cast(positive_v:f16[8,6,8,8], to=f32), scale=0.35)");
  for (const char* name : {"attention_cdna", "attention_mma"}) {
    auto outcome = run_gpu_row(**target, *(*target)->kernel_named(name), test);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_LT(largest_distance(outcome->outputs[0], exact.expected[0]), 0.8) << name;
  }
}

}  // namespace
}  // namespace rung::test
