// What CDNA's linear rows take, the order in which they want weights, and how they cut them into blocks.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>

#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_cdna_order.hpp"
#include "linear_case.hpp"
#include "support/machines.hpp"
#include "support/tunables.hpp"

namespace rung::gpu {
namespace {

using testing::cdna;
using ::testing::ElementsAre;

const Kernel& cdna_row(std::string_view name) {
  for (const Kernel* each : all_kernels())
    if (each->name == name) return *each;
  throw std::logic_error("no row " + std::string(name));
}
const Kernel& skinny() { return cdna_row("linear_skinny_cdna"); }
const Kernel& wide() { return cdna_row("linear_wide_cdna"); }

// Where a product finds element [row, k] of the weights: by lane, as matrix instructions take them.
struct Packed {
  Problem problem;
  std::vector<uint16_t> bytes;

  explicit Packed(Problem asked) : problem(std::move(asked)), bytes(skinny().packed_for(problem, cdna(), 1) / 2) {
    std::vector<uint16_t> w(static_cast<size_t>(problem.inputs[1].shape.product()));
    std::iota(w.begin(), w.end(), uint16_t{1});
    skinny().pack(problem, cdna(), 1, w.data(), bytes.data());
  }
  int64_t columns() const { return problem.inputs[0].shape.back(); }
  uint16_t at(int64_t tile, int64_t row_of_tile, int64_t k) const {
    const int64_t chunks = (columns() + 31) / 32, lane = k % 32 / 8 * 16 + row_of_tile;
    return bytes.at(static_cast<size_t>(((tile * chunks + k / 32) * 64 + lane) * 8 + k % 8));
  }
  uint16_t of(int64_t row, int64_t k) const { return static_cast<uint16_t>(1 + row * columns() + k); }
};

TEST(LinearCdna, WantsWeightsSixteenRowsATileByLane) {
  const Packed packed(layer(4, 40, 72));
  EXPECT_EQ(packed.bytes.size(), 4u * 3 * 64 * 8) << "tiles in pairs, whole chunks";
  for (int64_t row : {0, 1, 15, 16, 39})
    for (int64_t k : {0, 7, 8, 31, 32, 71}) EXPECT_EQ(packed.at(row / 16, row % 16, k), packed.of(row, k)) << row << k;
}

TEST(LinearCdna, WantsZerosBeyondTheEndsOfTheWeights) {
  const Packed packed(layer(4, 40, 72));
  EXPECT_EQ(packed.at(2, 8, 0), 0) << "row 40";
  EXPECT_EQ(packed.at(3, 15, 71), 0);
  EXPECT_EQ(packed.at(0, 0, 72), 0) << "column 72";
  EXPECT_EQ(packed.at(2, 7, 95), 0);
}

TEST(LinearCdna, WantsGateAndUpBesideEachOther) {
  const Packed packed(layer(4, 24, 32, true));
  for (int64_t row : {0, 15, 16, 23}) {
    EXPECT_EQ(packed.at(row / 16 * 2, row % 16, 5), packed.of(row, 5)) << row;
    EXPECT_EQ(packed.at(row / 16 * 2 + 1, row % 16, 5), packed.of(24 + row, 5)) << row;
  }
  EXPECT_EQ(packed.at(2, 8, 0), 0) << "behind the last gate stands no row of up";
}

TEST(LinearCdna, WantsTheHalvesOfHeadsBesideEachOther) {
  const Packed packed(rotated(layer(4, 192, 32), 2, 64));
  for (int64_t head : {0, 1, 2})
    for (int64_t row : {0, 15, 16, 31}) {
      const int64_t tile = head * 4 + row / 16 * 2;
      EXPECT_EQ(packed.at(tile, row % 16, 9), packed.of(head * 64 + row, 9)) << head << " " << row;
      EXPECT_EQ(packed.at(tile + 1, row % 16, 9), packed.of(head * 64 + 32 + row, 9)) << head << " " << row;
    }
}

std::string refusal(const Kernel& kernel, const Problem& problem, const Machine& machine = cdna()) {
  const Verdict verdict = kernel.supports(problem, machine);
  return verdict ? "" : verdict.reason;
}

TEST(LinearCdna, DividesProductsByTheirTokens) {
  EXPECT_EQ(refusal(skinny(), layer(64, 32, 32)), "");
  EXPECT_EQ(refusal(wide(), layer(65, 32, 32)), "");
  EXPECT_EQ(refusal(skinny(), layer(65, 32, 32)), "65 rows, wanted 1 to 64");
  EXPECT_EQ(refusal(wide(), layer(64, 32, 32)), "64 rows, wanted more than 64");
}

TEST(LinearCdna, IsMadeForCdnaAlone) {
  EXPECT_EQ(refusal(skinny(), layer(4, 32, 32), testing::hopper()), "made for CDNA");
  EXPECT_EQ(refusal(wide(), layer(80, 32, 32), testing::hopper()), "made for CDNA");
}

TEST(LinearCdna, TakesOnlyRowsOfSixteenByteMultiples) {
  EXPECT_EQ(refusal(skinny(), layer(4, 32, 36)), "rows of x or w are not a multiple of 16 bytes");
  EXPECT_EQ(refusal(skinny(), layer(4, 30, 32)), "n is not a multiple of 4");
  EXPECT_EQ(refusal(skinny(), rotated(layer(4, 96, 32), 1, 48)),
            "heads of 48 columns in 96, wanted a multiple of 32 that divides them");
  Problem far = layer(4, 32, 32);
  far.inputs[0].strides = {(int64_t{1} << 24) + 8, 1};
  EXPECT_EQ(refusal(skinny(), far), "rows of x are 16777224 elements apart, wanted at most 16777216");
}

Problem in_f32(Problem made) {
  for (Operand* each : {&made.inputs[0], &made.inputs[1], &made.output}) each->dtype = DType::f32;
  return made;
}

TEST(LinearCdna, TakesF32) {
  EXPECT_EQ(refusal(wide(), in_f32(layer(80, 32, 36))), "");
  EXPECT_EQ(refusal(wide(), in_f32(layer(80, 32, 34))), "rows of x or w are not a multiple of 16 bytes");
  EXPECT_EQ(refusal(skinny(), in_f32(layer(4, 32, 36))), "");
  Problem mixed = layer(80, 32, 32);
  mixed.inputs[1].dtype = DType::f32;
  EXPECT_EQ(refusal(wide(), mixed), "x and w are not both bf16, both f32, both f8e4m3fnuz or both f16");
  Problem far = in_f32(layer(80, 32, 32));
  far.inputs[0].strides = {(int64_t{1} << 23) + 8, 1};
  EXPECT_EQ(refusal(wide(), far), "rows of x are 8388616 elements apart, wanted at most 8388608");
}

std::vector<int64_t> values(const Kernel& kernel, const Problem& problem, std::string_view name,
                            const Machine& machine = cdna()) {
  return test::values_of(kernel.tunables_for(problem, machine), name);
}

using Way = Tunable::Values;  // rows of w and tokens of a tile, parts of K
std::vector<Way> ways(const Problem& problem) {
  return test::joint_values(wide().tunables_for(problem, cdna()), "rows");
}

// Sums of four waves of 64 tokens and 32 rows are 36 KiB, of eight 72; the former is all that CDNA 3 has room for.
TEST(LinearCdna, SharesKAmongTheWavesWhoseSumsFit) {
  EXPECT_THAT(values(skinny(), layer(64, 64, 1024, true), "waves"), ElementsAre(4, 2, 1));
  EXPECT_THAT(values(skinny(), layer(16, 64, 1024, true), "waves"), ElementsAre(4, 8, 2, 1));
  EXPECT_THAT(values(skinny(), layer(16, 64, 64), "waves"), ElementsAre(2, 1)) << "of two chunks";
  Machine later = cdna();
  later.gpu.shared_bytes_per_block = 160 * 1024;
  EXPECT_THAT(values(skinny(), layer(64, 64, 1024, true), "waves", later), ElementsAre(4, 8, 2, 1));
}

TEST(LinearCdna, FillsTheDeviceBeforeSavingTokenReads) {
  EXPECT_THAT(values(skinny(), layer(16, 1024, 64), "rows"), ElementsAre(16, 32));
  EXPECT_THAT(values(skinny(), layer(16, 16384, 64), "rows"), ElementsAre(32, 16));
  EXPECT_THAT(values(skinny(), layer(16, 1024, 64, true), "rows"), ElementsAre(32));
}

TEST(LinearCdna, CutsWideProductsToFillTheDevice) {
  EXPECT_EQ(ways(layer(816, 16384, 2048)).front(), (Way{128, 128, 1}));
  EXPECT_EQ(ways(layer(128, 1024, 256)).front(), (Way{64, 64, 1}));
  EXPECT_EQ(ways(layer(128, 1024, 256)).size(), 4u) << "K is too short for two";
}

// Of 128 tokens and 1,024 rows 32 tiles of 64: for each compute unit of 304 eight parts of K, each of 16 chunks.
TEST(LinearCdna, SharesKWhereComputeUnitsAreIdle) {
  Problem deep = layer(128, 1024, 4096);
  EXPECT_EQ(ways(deep).front(), (Way{64, 64, 8}));
  EXPECT_EQ(wide().scratch_for(deep, cdna()), 8u * 128 * 1024 * 4);
  deep.params = {{"rows", 64}, {"tokens", 64}, {"parts", 4}};
  EXPECT_EQ(wide().scratch_for(deep, cdna()), 4u * 128 * 1024 * 4);
  EXPECT_EQ(wide().scratch_for(layer(816, 16384, 2048), cdna()), 0u) << "blocks for all";
  for (const Way& way : ways(layer(816, 16384, 2048))) EXPECT_EQ(way[2], 1);
}

}  // namespace
}  // namespace rung::gpu
