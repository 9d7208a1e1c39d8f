// What cpu_info() says is consistent with itself and with the system.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_info.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
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
  EXPECT_TRUE(!info.amx_bf16 || info.avx512_bf16);
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

// The cap is read once per process, so a fresh one tells: this test runs itself again with the variable set.
TEST(CpuInfo, IsCappedByTheEnvironment) {
  if (const char* cap = std::getenv("RUNG_CPU_ISA")) {
    if (std::string(cap) == "scalar") {
      EXPECT_EQ(cpu_info().isa_text(), "scalar");
    }
    return;
  }
  std::string self = "RUNG_CPU_ISA=scalar '" + testing::internal::GetArgvs()[0] +
                     "' --gtest_filter=CpuInfo.IsCappedByTheEnvironment > /dev/null";
  EXPECT_EQ(std::system(self.c_str()), 0);
}

}  // namespace
}  // namespace rung::cpu
