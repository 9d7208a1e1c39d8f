// The order of the processor's rows, which is that of preference.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/pair_rate.hpp"
#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {
namespace {

// They come first where the processor gains by them, and right behind the row of floats elsewhere.
TEST(CpuRows, OfPairsStandBesideThoseOfFloats) {
  size_t seen = 0;
  const auto rows = all_kernels();
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = rows[i]->name, end = "_avx512_bf16";
    if (!name.ends_with(end)) continue;
    const std::string floats = std::string(name.substr(0, name.size() - end.size())) + "_avx512";
    const size_t other = gains_by_pairs() ? i + 1 : i - 1;
    ASSERT_LT(other, rows.size());
    EXPECT_EQ(rows[other]->name, floats);
    ++seen;
  }
  EXPECT_EQ(seen, 2u) << "of attention and of linear";
}

}  // namespace
}  // namespace rung::cpu
