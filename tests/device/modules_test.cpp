// Which module an architecture gets, and what is said where there is none.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/modules.hpp"

#include <gmock/gmock.h>

#include <set>

#include "device/gpu/gpu.hpp"
#include "support/code_object.hpp"
#include "support/fake_gpu.hpp"
#include "support/machines.hpp"

namespace rung::gpu {
namespace {

using ::testing::HasSubstr;

bool has(Vendor vendor) { return missing_modules_reason(vendor).empty(); }

TEST(GpuModules, ArchitecturesHaveTheirVendorsNames) {
  EXPECT_EQ(architecture_name(90), "sm_90");
  EXPECT_EQ(architecture_name(0x90a), "gfx90a");
  EXPECT_EQ(architecture_name(0x950), "gfx950");
  EXPECT_EQ(vendor_of(121), Vendor::nvidia);
  EXPECT_EQ(vendor_of(0x90a), Vendor::amd);
}

TEST(GpuModules, AreForEachArchitectureOfBothVendors) {
  std::set<std::string_view> names;
  for (const CompiledFor& one : compiled_architectures()) {
    names.insert(one.name);
    EXPECT_EQ(has_kernels_for(one.first).yes, has(one.vendor)) << one.name;
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"sm_80", "sm_90a", "gfx90a", "gfx942", "gfx950"}));
}

std::string kernels_of_this_build() {
  const std::string names = architectures_of_this_build();
  return names.empty() ? "this build has no GPU kernels" : "the GPU kernels of this build are for " + names;
}

// Code for 8.0 runs on 8.9, that for 9.0a on 9.0 alone; a gfx number is its own.
TEST(GpuModules, RunWhereTheirCodeDoes) {
  EXPECT_EQ(has_kernels_for(89).yes, has(Vendor::nvidia));
  for (int none : {75, 91, 100, 120, 0x906, 0x940, 0x943, 0x1100}) {
    const Verdict verdict = has_kernels_for(none);
    EXPECT_FALSE(verdict) << architecture_name(none);
    EXPECT_THAT(verdict.reason, HasSubstr(kernels_of_this_build()));
  }
}

// One image for all of NVIDIA's architectures, one for each of AMD's; those of Hopper are NVIDIA's alone.
TEST(GpuModules, AreTheVendorsOwn) {
  EXPECT_EQ(embedded_module("copy", 80), embedded_module("copy", 90));
  EXPECT_EQ(embedded_module("copy", 90) != nullptr, has(Vendor::nvidia));
  EXPECT_EQ(embedded_module("linear_fma_sm90", 0x942), nullptr);
  EXPECT_EQ(embedded_module("no_such", 90), nullptr);
  EXPECT_EQ(embedded_module("copy", 0x943), nullptr);
  for (int architecture : {0x90a, 0x942, 0x950}) {
    const void* image = embedded_module("copy", architecture);
    EXPECT_EQ(image != nullptr, has(Vendor::amd));
    if (!image) continue;
    EXPECT_TRUE(testing::is_code_object(image));
    constexpr size_t kFlags = 48;  // in an ELF header: its low byte names the processor
    const int flags = static_cast<const unsigned char*>(image)[kFlags];
    EXPECT_EQ(flags, architecture == 0x90a ? 0x3f : architecture == 0x942 ? 0x4c : 0x4f);
  }
}

TEST(GpuModules, AllHaveBytes) {
  for (const EmbeddedModule& module : embedded_modules()) {
    EXPECT_GT(module.bytes(), 1000u) << module.name;
    EXPECT_EQ(embedded_module(module.name, module.architecture), module.begin);
  }
}

TEST(GpuModules, OnesThatAreNotThereAreNamedWithTheArchitecture) {
  static GpuInfo card;
  Runtime table = testing::fake_runtime();
  table.describe = [](int, GpuInfo* info) { return *info = card, 0; };
  const auto refusal = [&](int architecture) {
    card = testing::cdna_card(architecture);
    const auto device = Gpu::open(table, 0);
    return device ? (*device)->function("linear_fma_sm90", "any").error().message : device.error().message;
  };
  EXPECT_THAT(refusal(0x942), HasSubstr("CDNA: there is no GPU module 'linear_fma_sm90' for gfx942"));
  EXPECT_THAT(refusal(0x1100), HasSubstr("for gfx1100: " + kernels_of_this_build()));
}

}  // namespace
}  // namespace rung::gpu
