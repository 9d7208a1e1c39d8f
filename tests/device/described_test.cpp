// Products as they are published, and devices that only write down what is launched on them.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/described.hpp"

#include <gmock/gmock.h>

#include "device/gpu/cards.hpp"
#include "device/gpu/current_context.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<Gpu> open_card(std::string_view word) {
  const Card* card = *card_named(word);
  return *Gpu::open(described_runtime(), static_cast<int>(card - cards().data()));
}

TEST(Cards, AreFoundByTheirWords) {
  EXPECT_EQ((*card_named("mi355x"))->name, "AMD Instinct MI355X");
  const auto unknown = card_named("mi999");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
  EXPECT_EQ(unknown.error().message, "gpu: got 'mi999', wanted one of h100, h200, mi300x, mi325x, mi350x, mi355x");
}

// What a compute unit does in a cycle, by AMD's white papers: 2,048 flops of bf16 on CDNA 3, 4,096 on CDNA 4; 256 of
// f32. A slip in a rate, a clock or a number of units shows here.
TEST(Cards, RatesOfAmdFollowFromClocksAndUnits) {
  for (const Card& card : cards()) {
    if (vendor_of(card.architecture) != Vendor::amd) continue;
    const double cycles = card.units * card.clock_mhz * 1e6;
    const double narrow = card.architecture == 0x950 ? 4096 : 2048;
    EXPECT_NEAR(card.narrow_tflops * 1e12 / cycles, narrow, 0.002 * narrow) << card.word;
    EXPECT_NEAR(card.f32_tflops * 1e12 / cycles, 256, 0.5) << card.word;
  }
}

TEST(Cards, SharesAreShares) {
  for (const Card& card : cards()) {
    EXPECT_GT(card.memory_share, 0.5) << card.word;
    EXPECT_LT(card.memory_share, 1) << card.word;
    EXPECT_GT(card.narrow_share, 0.5) << card.word;
    EXPECT_LT(card.narrow_share, 1) << card.word;
    EXPECT_FALSE(card.source.empty()) << card.word;
  }
}

TEST(Cards, AreDescribedAsTheirDriversWould) {
  const GpuInfo h200 = info_of(**card_named("h200")), mi350x = info_of(**card_named("mi350x"));
  EXPECT_EQ(h200.lanes, 32);
  EXPECT_EQ(h200.shared_bytes_per_block, 227u * 1024);
  EXPECT_TRUE(h200.clusters && h200.dependent_launch);
  EXPECT_EQ(mi350x.lanes, 64);
  EXPECT_EQ(mi350x.multiprocessors, 256);
  EXPECT_EQ(mi350x.shared_bytes_per_block, 160u * 1024);
  EXPECT_FALSE(mi350x.clusters || mi350x.dependent_launch);
}

class DescribedCdna : public ::testing::Test {
 protected:
  void SetUp() override {
    if (auto missing = missing_modules_reason(Vendor::amd); !missing.empty()) GTEST_SKIP() << missing;
  }
  std::shared_ptr<Gpu> device = open_card("mi300x");
  CurrentContext current{*device};
  int launch(std::string_view function, const Launch& shape) {
    return device->runtime().launch(*device->function("reduce", function), shape, nullptr, nullptr);
  }
};

TEST_F(DescribedCdna, WritesDownWhatIsLaunched) {
  ASSERT_EQ(launch("reduce_along_integer", {.grid = {7, 2}, .block = {256}, .cluster = {}, .shared_bytes = 64}), 0);
  const auto launches = take_recorded_launches(device->context());
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].function, "reduce_along_integer");
  EXPECT_EQ(launches[0].shape.grid.y, 2u);
  ASSERT_TRUE(launches[0].kernel);
  EXPECT_EQ(launches[0].kernel->name, "reduce_along_integer");
  EXPECT_GT(launches[0].kernel->vgprs, 0u);
  EXPECT_TRUE(take_recorded_launches(device->context()).empty());
}

TEST_F(DescribedCdna, RefusesWhatDoesNotFit) {
  EXPECT_NE(launch("reduce_along_integer", {.grid = {}, .block = {256}, .cluster = {}, .shared_bytes = 64 * 1024}), 0);
  EXPECT_NE(launch("reduce_along_integer", {.grid = {}, .block = {2048}}), 0);
  EXPECT_TRUE(take_recorded_launches(device->context()).empty());
}

// As much as there is beside what the kernel has itself, in all dimensions together.
TEST_F(DescribedCdna, TakesWhatJustFits) {
  ASSERT_EQ(launch("reduce_along_integer", {.grid = {}, .block = {64}}), 0);
  const amdgpu::KernelInfo* kernel = take_recorded_launches(device->context()).at(0).kernel;
  const uint32_t left = 64 * 1024 - kernel->lds_bytes, most = kernel->most_threads;
  const auto takes = [&](const Extent& block, uint32_t shared) {
    return launch("reduce_along_integer", {.grid = {}, .block = block, .cluster = {}, .shared_bytes = shared}) == 0;
  };
  EXPECT_TRUE(takes({64}, left));
  EXPECT_FALSE(takes({64}, left + 1));
  for (const Extent& block : {Extent{most}, {1, most}, {1, 1, most}, {most / 4, 2, 2}}) {
    EXPECT_TRUE(takes(block, 0));
    EXPECT_FALSE(takes({block.x + 1, block.y, block.z}, 0));
    EXPECT_FALSE(takes({block.x, block.y + 1, block.z}, 0));
    EXPECT_FALSE(takes({block.x, block.y, block.z + 1}, 0));
  }
  EXPECT_EQ(take_recorded_launches(device->context()).size(), 5u) << "what is refused is not written down";
}

TEST_F(DescribedCdna, KnowsTheKernelsOfAModule) {
  const auto none = device->function("reduce", "reduce_everything");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("the module has no such kernel"));
}

TEST(DescribedDevices, DoNoWork) {
  const auto device = open_card("h200");
  EXPECT_EQ(device->info().name, "NVIDIA H200 SXM");
  const auto block = device->allocate(16);
  ASSERT_FALSE(block);
  EXPECT_THAT(block.error().message, HasSubstr("a described device does no work"));
}

}  // namespace
}  // namespace rung::gpu
