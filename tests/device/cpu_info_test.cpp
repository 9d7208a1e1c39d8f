// What cpu_info() says is consistent with itself and with the system.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_info.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace rung::cpu {
namespace {

TEST(CpuInfo, CountsOnlyCoresThatThisProcessMayUse) {
  EXPECT_GE(cpu_info().cores, 1);
  EXPECT_LE(cpu_info().cores, static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(CpuInfo, NamesTheProcessor) { EXPECT_FALSE(cpu_info().name.empty()); }

TEST(CpuInfo, EachInstructionSetImpliesTheOneBelow) {
  const CpuInfo& info = cpu_info();
  EXPECT_TRUE(!info.amx_int8 || info.amx_bf16);
  EXPECT_TRUE(!info.amx_bf16 || info.avx512_bf16);
  EXPECT_TRUE(!info.avx512_vnni || info.avx512);
  EXPECT_TRUE(!info.avx512_bf16 || info.avx512);
  EXPECT_TRUE(!info.avx512 || info.avx2);
}

TEST(CpuInfo, CachesGrowWithTheirLevel) {
  EXPECT_GE(cpu_info().l1_bytes, size_t{8} << 10);
  EXPECT_GT(cpu_info().l2_bytes, cpu_info().l1_bytes);
}

TEST(CpuInfo, WritesItsInstructionSetsFromLowToHigh) {
  CpuInfo info;
  EXPECT_EQ(info.isa_text(), "scalar");
  info.avx2 = info.avx512 = true;
  EXPECT_EQ(info.isa_text(), "avx2 avx512");
}

// The cap is read once per process, so fresh ones tell: this test runs itself again with the variable set, for each
// level. What it says of a higher one than this machine has is as without it.
TEST(CpuInfo, IsCappedByTheEnvironment) {
  constexpr std::string_view kLevels[] = {"scalar", "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx_bf16"};
  if (const char* expected = std::getenv("RUNG_TEST_EXPECTED_ISA")) {
    EXPECT_EQ(cpu_info().isa_text(), expected);
    return;
  }
  if (std::getenv("RUNG_CPU_ISA")) GTEST_SKIP() << "it is capped already";
  const CpuInfo& info = cpu_info();
  const bool has[] = {true, info.avx2, info.avx512, info.avx512_vnni, info.avx512_bf16, info.amx_bf16};
  std::string text;
  const auto expect = [](std::string_view cap, const std::string& expected) {
    const std::string self = fmt::format(
        "RUNG_CPU_ISA={} RUNG_TEST_EXPECTED_ISA='{}' '{}' --gtest_filter=CpuInfo.IsCappedByTheEnvironment > /dev/null",
        cap, expected.empty() ? "scalar" : expected, testing::internal::GetArgvs()[0]);
    EXPECT_EQ(std::system(self.c_str()), 0) << cap;
  };
  for (size_t level = 0; level < std::size(kLevels); ++level) {
    if (level > 0 && has[level]) text += (text.empty() ? "" : " ") + std::string(kLevels[level]);
    if (kLevels[level] == "amx_bf16" && info.amx_int8) text += " amx_int8";
    expect(kLevels[level], text);
  }
  expect("avx1024", text);
}

}  // namespace
}  // namespace rung::cpu
