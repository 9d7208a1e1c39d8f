// Waves per SIMD by each limit, as published for MI300X and as its registers are allocated.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/occupancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "amdgpu/code/code_object.hpp"

namespace rung::amdgpu {
namespace {

constexpr OccupancyFormula kExact = OccupancyFormula::exact, kGuide = OccupancyFormula::guide;

Occupancy must(const Resources& resources, Isa isa = Isa::gfx942, OccupancyFormula formula = kExact) {
  auto made = occupancy_of(resources, isa, formula);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(Occupancy{});
}

double waves_of_registers(uint32_t vgprs, OccupancyFormula formula) {
  return must({.vgprs = vgprs, .threads = 64}, Isa::gfx942, formula).waves_per_simd;
}

TEST(Occupancy, TheGuideRoundsRegistersToUnitsOfSixteen) {
  EXPECT_EQ(waves_of_registers(170, kGuide), 2);
  EXPECT_EQ(waves_of_registers(160, kGuide), 3);
  EXPECT_EQ(waves_of_registers(161, kGuide), 2);
}

TEST(Occupancy, RegistersAreAllocatedInUnitsOfEight) {
  EXPECT_EQ(waves_of_registers(160, kExact), 3);
  for (uint32_t vgprs = 161; vgprs <= 168; ++vgprs) EXPECT_EQ(waves_of_registers(vgprs, kExact), 3) << vgprs;
  EXPECT_EQ(waves_of_registers(169, kExact), 2);
  EXPECT_EQ(waves_of_registers(170, kExact), 2);
  EXPECT_EQ(waves_of_registers(512, kExact), 1);
}

TEST(Occupancy, NoMoreThanEightWaves) {
  const Occupancy made = must({.vgprs = 24, .sgprs = 32, .threads = 256});
  EXPECT_EQ(made.waves_per_simd, 8);
  EXPECT_EQ(made.limit, Limit::wave_slots);
  EXPECT_EQ(step_text(made), "");
}

TEST(Occupancy, AccumulationRegistersCount) {
  EXPECT_EQ(unified_registers(100, 0), 100u);
  EXPECT_EQ(unified_registers(99, 64), 164u);
  EXPECT_EQ(waves_of_registers(unified_registers(128, 0), kExact), 4);
  EXPECT_EQ(waves_of_registers(unified_registers(128, 128), kExact), 2);
}

TEST(Occupancy, ScalarRegistersLimit) {
  const Occupancy made = must({.vgprs = 32, .sgprs = 100, .threads = 64});
  EXPECT_EQ(made.waves_per_simd, 7);
  EXPECT_EQ(made.limit, Limit::sgprs);
  EXPECT_EQ(step_text(made), "4 scalar registers above 8 waves");
}

TEST(Occupancy, LdsOfEachArchitecture) {
  const Resources resources{.vgprs = 64, .lds_bytes = 40 * 1024, .threads = 256};
  EXPECT_EQ(must(resources, Isa::gfx942).groups, 1u);
  EXPECT_EQ(must(resources, Isa::gfx942).limit, Limit::lds);
  EXPECT_EQ(must(resources, Isa::gfx950).groups, 4u);  // of 160 KB
  // The published formula knows one size.
  EXPECT_EQ(must(resources, Isa::gfx950, kGuide).groups, 1u);
}

TEST(Occupancy, LdsIsAllocatedInUnits) {
  const Resources resources{.vgprs = 16, .lds_bytes = 12801, .threads = 64};
  EXPECT_EQ(must(resources, Isa::gfx942).groups, 4u);  // 26 units of 512 bytes; of single bytes, 5 would fit
  EXPECT_EQ(must({.vgprs = 16, .lds_bytes = 12800, .threads = 64}, Isa::gfx942).groups, 5u);
  EXPECT_EQ(must({.vgprs = 16, .lds_bytes = 1281, .threads = 64}, Isa::gfx950).groups, 32u);
  EXPECT_EQ(must({.vgprs = 16, .lds_bytes = 5121, .threads = 64}, Isa::gfx950).groups, 25u);  // 5 units of 1,280
}

TEST(Occupancy, WhatFitsNowhereIsNoGroup) {
  EXPECT_EQ(must({.vgprs = 16, .lds_bytes = 65 * 1024, .threads = 64}, Isa::gfx942).groups, 0u);
  EXPECT_EQ(must({.vgprs = 256, .threads = 1024}).groups, 0u);  // 16 waves, 8 fit
}

TEST(Occupancy, SaysHowFarTheNextStepIs) {
  EXPECT_EQ(step_text(must({.vgprs = 172, .threads = 256})), "4 vector registers above 3 waves");
  EXPECT_EQ(step_text(must({.vgprs = 168, .threads = 64})), "40 vector registers above 4 waves");
  EXPECT_EQ(step_text(must({.vgprs = 130, .threads = 256})), "2 vector registers above 4 waves");
  EXPECT_EQ(step_text(must({.vgprs = 32, .lds_bytes = 33 * 1024, .threads = 256})), "1024 bytes of LDS above 2 waves");
}

TEST(Occupancy, HasNoStepWhereAnotherLimitIsEqual) {
  const Occupancy made = must({.vgprs = 138, .lds_bytes = 20480, .threads = 256});
  EXPECT_EQ(made.waves_per_simd, 3);
  EXPECT_EQ(made.limit, Limit::vgprs);
  EXPECT_EQ(step_text(made), "");
  EXPECT_EQ(step_text(must({.vgprs = 138, .lds_bytes = 16384, .threads = 256})), "10 vector registers above 4 waves");
}

TEST(Occupancy, GivesTheWavesOfEachLimit) {
  const Occupancy made = must({.vgprs = 138, .sgprs = 100, .lds_bytes = 20480, .threads = 128});
  EXPECT_EQ(made.waves_by_limit, (std::array<double, 5>{3, 7, 1.5, 8, 8}));
}

// The published formula: min(floor(occ_vgpr * 4 / waves), floor(65536 / LDS)) * waves / 4.
TEST(Occupancy, TheGuideForEveryShape) {
  for (uint32_t vgprs = 1; vgprs <= 512; vgprs += 7)
    for (const uint32_t waves : {1u, 2u, 4u, 8u, 16u})
      for (const uint32_t lds : {1u, 1000u, 16384u, 30000u, 65536u}) {
        const uint32_t by_registers = 512 / ((vgprs + 15) / 16 * 16) * 4 / waves, by_lds = 65536 / lds;
        // More groups than 32 fit nowhere, which the formula leaves out: compared below that.
        if (std::min(by_registers, by_lds) > 32) continue;
        EXPECT_EQ(must({.vgprs = vgprs, .lds_bytes = lds, .threads = 64 * waves}, Isa::gfx942, kGuide).waves_per_simd,
                  std::min(by_registers, by_lds) * waves / 4.0)
            << vgprs << " registers, " << waves << " waves, " << lds << " bytes";
      }
}

// Registers of waves that are spread over four SIMDs, LDS and slots, each in its units: the most groups that fit.
TEST(Occupancy, TheExactOneForEveryShape) {
  const auto rounded = [](uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; };
  for (const Isa isa : {Isa::gfx90a, Isa::gfx942, Isa::gfx950})
    for (const uint32_t waves : {1u, 2u, 3u, 4u, 5u, 8u, 16u})
      for (const uint32_t vgprs : {0u, 1u, 8u, 9u, 64u, 65u, 100u, 128u, 129u, 168u, 169u, 256u, 257u, 512u})
        for (const uint32_t sgprs : {0u, 16u, 96u, 97u, 100u, 112u, 113u, 128u})
          for (const uint32_t lds : {0u, 1u, 512u, 513u, 4096u, 12801u, 32768u, 32769u, 65536u, 65537u}) {
            const uint32_t unit = isa == Isa::gfx950 ? 1280 : 512;
            const auto fits = [&](uint32_t groups) {
              const uint32_t each = (groups * waves + 3) / 4;
              return each <= 8 && each * rounded(std::max(vgprs, 1u), 8) <= 512 && each * rounded(sgprs, 16) <= 800 &&
                     groups * rounded(lds, unit) <= info_of(isa).lds_bytes && (waves == 1 || groups <= 16);
            };
            uint32_t most = 0;
            while (fits(most + 1)) ++most;
            const Resources taken{.vgprs = vgprs, .sgprs = sgprs, .lds_bytes = lds, .threads = 64 * waves - 63};
            const Occupancy made = must(taken, isa);
            ASSERT_EQ(made.groups, most) << waves << " waves, " << vgprs << ", " << sgprs << ", " << lds;
            ASSERT_EQ(made.waves_per_simd, most * waves / 4.0);
          }
}

// As much less of what limits makes room, one less than that does not.
TEST(Occupancy, SaysExactlyHowFarTheNextStepIs) {
  int steps = 0;
  for (const Isa isa : {Isa::gfx942, Isa::gfx950})
    for (const uint32_t waves : {1u, 2u, 3u, 4u, 8u})
      for (uint32_t vgprs = 8; vgprs <= 512; vgprs += 13)
        for (const uint32_t sgprs : {16u, 100u, 113u})
          for (uint32_t lds = 0; lds <= 65536; lds += 7001) {
            const Resources taken{.vgprs = vgprs, .sgprs = sgprs, .lds_bytes = lds, .threads = 64 * waves};
            const Occupancy made = must(taken, isa);
            if (made.excess == 0) continue;
            ++steps;
            for (const uint32_t less : {made.excess, made.excess - 1}) {
              Resources then = taken;
              uint32_t& of_limit = made.limit == Limit::vgprs   ? then.vgprs
                                   : made.limit == Limit::sgprs ? then.sgprs
                                                                : then.lds_bytes;
              of_limit -= less;
              ASSERT_EQ(must(then, isa).waves_per_simd,
                        less == made.excess ? made.next_waves_per_simd : made.waves_per_simd)
                  << waves << " waves, " << vgprs << ", " << sgprs << ", " << lds << ", less " << less;
            }
          }
  EXPECT_GT(steps, 300);
}

TEST(Occupancy, ByTheGuideIgnoresScalarRegistersAndSlots) {
  const Resources many{.vgprs = 1, .sgprs = 800, .lds_bytes = 1, .threads = 64};
  EXPECT_EQ(must(many, Isa::gfx942, kGuide).groups, 32u);
  EXPECT_EQ(must(many, Isa::gfx942).groups, 4u);
}

TEST(Occupancy, RefusesImpossibleGroups) {
  EXPECT_FALSE(occupancy_of({.vgprs = 8, .threads = 0}, Isa::gfx942, kExact));
  const auto refused = occupancy_of({.vgprs = 8, .threads = 1025}, Isa::gfx942, kExact);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "occupancy: got 1025 threads in a work-group, wanted 1 to 1024");
}

}  // namespace
}  // namespace rung::amdgpu
