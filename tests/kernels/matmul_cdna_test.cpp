// What CDNA's row of matmul takes, and how it cuts results into blocks.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "kernels/gpu/kernel.hpp"
#include "support/machines.hpp"
#include "support/tunables.hpp"

namespace rung::gpu {
namespace {

using testing::cdna;
using ::testing::ElementsAre;

// The first row of matmul that takes a problem.
const Kernel& row_for(const Problem& problem, const Machine& machine) {
  for (const Kernel* each : all_kernels())
    if (each->op == "matmul" && each->supports(problem, machine)) return *each;
  throw std::logic_error("no row");
}

Problem product(int64_t batch, int64_t m, int64_t n, int64_t k) {
  const auto operand = [](Shape shape) { return Operand{DType::bf16, shape, contiguous_strides(shape)}; };
  return {.op = MatMul{},
          .inputs = {operand({batch, m, k}), operand({batch, k, n})},
          .output = operand({batch, m, n}),
          .threads = 0};
}

TEST(MatmulCdna, TakesWhatOtherwiseOnlyTheFallbackWouldTake) {
  EXPECT_EQ(row_for(product(12, 128, 128, 64), cdna()).name, "matmul_cdna");
  EXPECT_EQ(row_for(product(12, 9, 9, 5), cdna()).name, "matmul_cdna");
  EXPECT_EQ(row_for(product(12, 128, 128, 64), testing::hopper()).role, Role::fallback);
  EXPECT_EQ(row_for(product(12, 128, 128, 0), cdna()).role, Role::fallback) << "there is nothing to multiply";
}

// Of 304 compute units.
TEST(MatmulCdna, CutsSmallResultsIntoSmallerTiles) {
  const auto tiles = [](const Problem& problem) {
    return test::values_of(row_for(problem, cdna()).tunables_for(problem, cdna()), "tile");
  };
  EXPECT_THAT(tiles(product(12, 128, 128, 64)), ElementsAre(32, 64)) << "48 tiles of 64 x 64";
  EXPECT_THAT(tiles(product(8, 816, 816, 256)), ElementsAre(64, 32));
}

}  // namespace
}  // namespace rung::gpu
