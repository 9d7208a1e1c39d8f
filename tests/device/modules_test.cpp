// Which module an architecture gets, and what is said where there is none.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/modules.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <vector>

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

// Without a driver of AMD's, a build that only checks has no code for gfx90a, which no emulator runs.
bool is_there(int architecture) {
  return std::ranges::any_of(compiled_architectures(),
                             [&](const CompiledFor& one) { return one.first == architecture; });
}

TEST(GpuModules, AreForEachArchitectureOfBothVendors) {
  std::set<std::string_view> names{"gfx90a"};
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
    EXPECT_EQ(image != nullptr, has(Vendor::amd) && is_there(architecture));
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

TEST(GpuModules, NameMissingOnesWithTheirArchitecture) {
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

// A kernel asks for more shared memory than any may have where it wants more than it asked for before, and again where
// that was refused.
TEST(GpuModules, AskForSharedMemoryOncePerKernel) {
  if (auto missing = missing_modules_reason(Vendor::amd); !missing.empty()) GTEST_SKIP() << missing;
  static std::vector<size_t> asked;
  static int answer;
  asked.clear(), answer = 0;
  Runtime table = testing::fake_runtime();
  table.describe = [](int, GpuInfo* info) { return *info = testing::cdna_card(0x942), 0; };
  table.allow_shared_bytes = [](Function, size_t bytes) { return asked.push_back(bytes), answer; };
  const auto device = *Gpu::open(table, 0);
  constexpr size_t kAll = size_t{48} << 10;
  for (const size_t bytes : {size_t{0}, kAll, kAll + 1, kAll + 1, kAll, kAll + 9, kAll + 8, kAll + 9})
    ASSERT_TRUE(device->function("reduce", "one", bytes));
  EXPECT_EQ(asked, (std::vector{kAll + 1, kAll + 9}));
  ASSERT_TRUE(device->function("reduce", "two", kAll + 5));
  ASSERT_TRUE(device->function("copy", "one", kAll + 3));
  EXPECT_EQ(asked, (std::vector{kAll + 1, kAll + 9, kAll + 5, kAll + 3})) << "kernels of one name are two";
  answer = 1;
  EXPECT_FALSE(device->function("reduce", "two", kAll + 6));
  EXPECT_FALSE(device->function("reduce", "two", kAll + 6)) << "what was refused is not granted the second time";
  EXPECT_TRUE(device->function("reduce", "two", kAll + 5));
  EXPECT_EQ(asked.size(), 6u);
  const ChoreCounts chores = device->chores();
  EXPECT_EQ(chores[static_cast<size_t>(Chore::load_module)], 2u);
  EXPECT_EQ(chores[static_cast<size_t>(Chore::find_kernel)], 3u);
}

}  // namespace
}  // namespace rung::gpu
