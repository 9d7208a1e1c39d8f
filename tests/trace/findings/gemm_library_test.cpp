// Products by Triton or the vendor's library that the other computes faster, as far as the recording shows it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr auto kFinding = findings::gemm_library;
// 68.7 Gflop: 69.5 us at an H200's peak, 83.8 us at what of it the best known programs reach
const ToldProduct kVendors{.m = 2048, .k = 4096, .n = 4096, .us = 85};
constexpr double kPeakMs = 0.0695;

ToldModel& templated(ToldModel& model, double us, std::string_view name = "triton_tem_fused_mm_t_view_1") {
  return model.op(name, name, us, {{{1, 2048, 4096}}, {{4096, 4096}}, {{2048, 4096}}, {{}, {}, "Scalar"}});
}

TEST(GemmLibrary, ATemplateBelowWhatLibrariesReach) {
  const auto finding = ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    templated(model, 100).norm(50, {1, 2048, 4096});
  });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "gemm_library");
  EXPECT_THAT(finding->title, HasSubstr("1 products of a step, 100 µs, are by Triton"));
  EXPECT_THAT(finding->title, HasSubstr("69 % of the card's peak"));
  EXPECT_EQ(finding->evidence[0].event, "triton_tem_fused_mm_t_view_1 2048x4096x4096");
  EXPECT_NEAR(finding->bound_ms, 0.100 - kPeakMs, 1e-3);
  EXPECT_NEAR(finding->loaded_bound_ms, 1.3 * (0.100 - kPeakMs), 1e-3);
  EXPECT_THAT(finding->changes[0].what, HasSubstr("TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS"));
}

// Both sides have a product that the other computes faster: the share of the peak is of Triton's alone.
TEST(GemmLibrary, GivesThePeakShareOfNamedProducts) {
  const std::vector<ToldTensor> half{{{1, 1024, 4096}}, {{4096, 4096}}, {{1024, 4096}}};
  ToldModel model;
  const auto finding = templated(model, 100)
                           .op("triton_tem_fused_mm_2", "triton_tem_fused_mm_2", 43, half)
                           .product({.m = 1024, .k = 4096, .n = 4096, .us = 90})
                           .norm(50, {1})
                           .found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->title, HasSubstr("1 products of a step, 100 µs, are by Triton"));
  EXPECT_THAT(finding->title, HasSubstr("69 % of the card's peak"));
  EXPECT_EQ(finding->evidence.size(), 2u);
}

// Peaks are those of the GPU that is analysed, whatever its number.
TEST(GemmLibrary, TheCardIsTheOneAtWork) {
  const auto is_found = [](std::vector<std::string> names) {
    ToldModel model;
    Recording recording = templated(model, 100).norm(50, {1}).script.finish();
    for (Lane& lane : recording.lanes)
      if (lane.on_device) lane.device = 1;
    recording.device_names = std::move(names);
    return kFinding(analyse(recording)).has_value();
  };
  EXPECT_TRUE(is_found({"Unknown GPU", "NVIDIA H200"}));
  EXPECT_FALSE(is_found({"NVIDIA H200", "Unknown GPU"}));
  EXPECT_FALSE(is_found({"NVIDIA H200"})) << "of the second nothing is told";
}

TEST(GemmLibrary, WithoutEvidenceNothingIsSaid) {
  const auto told = [](double us, std::string_view device, std::string_view name = "triton_tem_fused_mm_1") {
    ToldModel model;
    model.device = device;
    return templated(model, us, name).norm(50, {1}).found(kFinding);
  };
  EXPECT_TRUE(told(100, "NVIDIA H200"));
  EXPECT_FALSE(told(86, "NVIDIA H200")) << "as fast as libraries are";
  EXPECT_FALSE(told(100, "Unknown GPU"));
  EXPECT_FALSE(told(100, "NVIDIA H200", "triton_tem_fused_flex_attention_mm_1"));
  EXPECT_FALSE(ToldModel{}
                   .op("triton_tem_fused_mm_1", "triton_tem_fused_mm_1", 9, {{{64, 64}}, {{64, 64}}, {{64, 64}}})
                   .found(kFinding))
      << "too short for peaks";
  EXPECT_FALSE(ToldModel{}
                   .op("triton_tem_fused_mm_1", "triton_tem_fused_mm_1", 100, {{{64, 64}}, {{32, 64}}, {{64, 64}}})
                   .found(kFinding))
      << "no product has these sizes";
  EXPECT_FALSE(ToldModel{}.product({.m = 2048, .k = 4096, .n = 4096, .us = 500}).found(kFinding)) << "the vendor's own";
}

TEST(GemmLibrary, TheSameSizesByTheOtherAreEvidence) {
  const auto told = [](double triton_us, double vendor_us) {
    ToldModel model;
    model.device = "Unknown GPU";
    ToldProduct vendors = kVendors;
    vendors.us = vendor_us;
    return templated(model, triton_us).product(vendors).norm(500, {1}).found(kFinding);
  };
  const auto slow_triton = told(100, 80), slow_vendor = told(80, 100);
  ASSERT_TRUE(slow_triton);
  EXPECT_THAT(slow_triton->title, HasSubstr("are by Triton and slower than the vendor's library"));
  EXPECT_NEAR(slow_triton->bound_ms, 0.020, 1e-3);
  EXPECT_NEAR(slow_triton->loaded_bound_ms, 1.3 * 0.020, 1e-3);
  ASSERT_TRUE(slow_vendor);
  EXPECT_THAT(slow_vendor->title, HasSubstr("are by the vendor's library and slower than Triton"));
  EXPECT_EQ(slow_vendor->remedy, "Let Triton compute these products.");
  EXPECT_FALSE(told(100, 97)) << "a difference of 3 % is none";
}

}  // namespace
}  // namespace rung::trace
