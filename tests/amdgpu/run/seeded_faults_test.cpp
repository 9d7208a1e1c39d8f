// Kernels with one mistake each, compiled from source: what finds it, and where. Each has a twin without the mistake.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "support/amd_kernel.hpp"

namespace rung::amdgpu {
namespace {

using testing::AmdKernel;
using ::testing::AnyOf;
using testing::Grid;
using ::testing::StartsWith;

class SeededFaults : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { RUNG_NEEDS_CLANG(); }

  struct Fault {
    std::string source, wrong, right;  // `wrong` stands in the source; `right` is what should
    std::string name = "kernel";
  };
  // Runs both twins on `elements` floats in and as many out.
  Defect twins(const Fault& fault, Grid run, int elements, bool input_written = true) {
    Defect found;
    for (const bool mistaken : {true, false}) {
      std::string source = fault.source;
      if (!mistaken) source.replace(source.find(fault.wrong), fault.wrong.size(), fault.right);
      AmdKernel kernel(source, fault.name, GetParam());
      std::vector<float> values(static_cast<size_t>(elements));
      std::iota(values.begin(), values.end(), 1.0f);
      const float* in = input_written ? kernel.make(values) : kernel.make<float>(values.size());
      auto* out = kernel.make<float>(values.size());
      if (mistaken)
        found = kernel.find(run, in, out, elements), at_place_ = kernel.text_at(found.offset);
      else
        kernel.run(run, in, out, elements);
    }
    EXPECT_EQ(found.kernel, fault.name);
    EXPECT_EQ(found.instruction, at_place_);
    return found;
  }

 private:
  std::string at_place_;  // the instruction that stands where the defect says
};
INSTANTIATE_TEST_SUITE_P(Isas, SeededFaults, ::testing::Values(Isa::gfx942, Isa::gfx950),
                         [](const auto& test) { return std::string(info_of(test.param).name); });

TEST_P(SeededFaults, AnIndexBeyondTheEnd) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    const int i = group() * 64 + thread();
    if (i <= n) out[i] = in[i] * 2;
  })~",
                              "i <= n", "i < n"},
                             {.groups = {17}, .threads = {64}}, 1024);
  EXPECT_EQ(found.kind, DefectKind::out_of_bounds) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("global_load_dword "));
  EXPECT_EQ(found.lane, 0);
  EXPECT_EQ(found.group[0], 16u);
}

TEST_P(SeededFaults, AnIndexBeforeTheBegin) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    const int i = group() * 64 + thread();
    out[i - 1] = in[i]; // the one before
  })~",
                              "i - 1", "i"},
                             {.groups = {16}, .threads = {64}}, 1024);
  EXPECT_EQ(found.kind, DefectKind::out_of_bounds) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("global_store_dword "));
  EXPECT_EQ(found.lane, 0);
  EXPECT_EQ(found.group[0], 0u);
}

// Each thread's sum with its neighbour; the last one's is not there.
TEST_P(SeededFaults, AnIndexBeyondTheEndOfLds) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    SHARED float room[64];
    room[thread()] = in[thread()];
    barrier();
    out[thread()] = room[thread()] + room[thread() + 1]; // no modulo
  })~",
                              "thread() + 1]; // no modulo", "(thread() + 1) % 64];"},
                             {.threads = {64}}, 64);
  EXPECT_EQ(found.kind, DefectKind::out_of_bounds) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_read"));
  EXPECT_EQ(found.lane, 63);
}

TEST_P(SeededFaults, LdsThatNobodyWrote) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    SHARED float room[64];
    if (thread() > 0) room[thread()] = in[thread()]; // not the first
    barrier();
    out[thread()] = room[63 - thread()];
  })~",
                              "if (thread() > 0) ", ""},
                             {.threads = {64}}, 64);
  EXPECT_EQ(found.kind, DefectKind::uninitialised) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_read"));
  EXPECT_EQ(found.lane, 63);
}

TEST_P(SeededFaults, ATrap) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    if (n == 64) __builtin_trap();
    out[thread()] = in[thread()];
  })~",
                              "n == 64", "n == 65"},
                             {.threads = {64}}, 64);
  EXPECT_EQ(found.kind, DefectKind::trapped) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("s_trap"));
}

TEST_P(SeededFaults, IncludeAMissingWaitAfterAMemoryLoad) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    float x;
    asm volatile("global_load_dword %0, %1, off; no wait" : "=v"(x) : "v"(in + thread()));
    out[thread()] = x + 1;
  })~",
                              "; no wait", "\\ns_waitcnt vmcnt(0)"},
                             {.threads = {64}}, 64);
  EXPECT_EQ(found.kind, DefectKind::missing_wait) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("v_add_f32"));
}

TEST_P(SeededFaults, IncludeAMissingWaitAfterAScalarLoad) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    float x;
    asm volatile("s_load_dword %0, %1, 0x10; no wait" : "=s"(x) : "s"(in));
    out[thread()] = x + 1;
  })~",
                              "; no wait", "\\ns_waitcnt lgkmcnt(0)"},
                             {.threads = {64}}, 64);
  EXPECT_EQ(found.kind, DefectKind::missing_wait) << found.text();
  EXPECT_THAT(found.instruction, AnyOf(StartsWith("v_add_f32"), StartsWith("v_mov_b32")));
}

// Of two loads under way, a wait that leaves one promises the first alone.
TEST_P(SeededFaults, AWaitForTooFewLoads) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    float x, y;
    asm volatile("global_load_dword %0, %2, off\nglobal_load_dword %1, %2, off offset:4\ns_waitcnt vmcnt(1)"
                 : "=&v"(x), "=&v"(y) : "v"(in + thread() % 32));
    asm volatile("global_store_dword %0, %1, off" : : "v"(out + thread()), "v"(y));
    asm volatile("s_waitcnt vmcnt(0)" : : "v"(x), "v"(y));
  })~",
                              "\"v\"(y));\n    asm", "\"v\"(x));\n    asm"},
                             {.threads = {64}}, 64);
  EXPECT_EQ(found.kind, DefectKind::missing_wait) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("global_store_dword"));
}

TEST_P(SeededFaults, AWaitThatIsMissingBeforeABarrier) {
  const Defect found = twins({R"~(KERNEL(128) kernel(const float* in, float* out, int n) {
    SHARED float room[128];
    const u32 at = (u32)(u64)(__attribute__((address_space(3))) float*)(room + thread());
    room[thread()] = 0;
    barrier();
    asm volatile("ds_write_b32 %0, %1; no wait" : : "v"(at), "v"(in[thread()]) : "memory");
    __builtin_amdgcn_s_barrier();
    asm volatile("" : : : "memory");
    out[thread()] = room[127 - thread()];
  })~",
                              "; no wait", "\\ns_waitcnt lgkmcnt(0)"},
                             {.threads = {128}}, 128);
  EXPECT_EQ(found.kind, DefectKind::missing_wait) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_read"));
}

TEST_P(SeededFaults, ABarrierThatIsMissing) {
  const Defect found = twins({R"~(KERNEL(128) kernel(const float* in, float* out, int n) {
    SHARED float room[128];
    room[thread()] = in[thread()];
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); // no barrier
    out[thread()] = room[127 - thread()];
  })~",
                              "// no barrier", "barrier();"},
                             {.threads = {128}, .checks = {.uninitialised = false}}, 128);
  EXPECT_EQ(found.kind, DefectKind::lds_race) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_"));
}

TEST_P(SeededFaults, IncludeAMissingBarrierBeforeLdsIsReused) {
  const Defect found = twins({R"~(KERNEL(128) kernel(const float* in, float* out, int n) {
    SHARED float room[128];
    for (int i = 0; i < 2; ++i) {
      room[thread()] = in[thread()] + i;
      barrier();
      out[thread()] = room[127 - thread()];
      // no barrier
    }
  })~",
                              "// no barrier", "barrier();"},
                             {.threads = {128}}, 128);
  EXPECT_EQ(found.kind, DefectKind::lds_race) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_"));  // the read or the write, whichever wave is ahead
}

// Of two waves that read a place, the second writes it while the first may be behind.
TEST_P(SeededFaults, IncludeAMissingBarrierBetweenReadAndWrite) {
  const Defect found = twins({R"~(KERNEL(128) kernel(const float* in, float* out, int n) {
    SHARED float room[64];
    if (thread() < 64) room[thread()] = in[thread()];
    barrier();
    const float x = room[thread() % 64];
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); // no barrier
    if (thread() >= 64) room[thread() - 64] = x + 1;
    barrier();
    out[thread()] = x + room[63 - thread() % 64];
  })~",
                              "// no barrier", "barrier();"},
                             {.threads = {128}}, 128);
  EXPECT_EQ(found.kind, DefectKind::lds_race) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_write"));
}

TEST_P(SeededFaults, ABarrierThatOnlySomeWavesReach) {
  const Defect found = twins({R"~(KERNEL(128) kernel(const float* in, float* out, int n) {
    SHARED float room[64];
    if (thread() < 64) {
      room[thread()] = in[thread()];
      barrier(); // here
    } else {
      out[thread()] = in[thread()];
    }
    barrier();
    if (thread() < 64) out[thread()] = room[63 - thread()];
  })~",
                              "barrier(); // here", ""},
                             {.threads = {128}}, 128);
  EXPECT_EQ(found.kind, DefectKind::divergent_barrier) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("s_barrier"));
}

// Waves that have ended are not waited for, as hardware does it.
TEST_P(SeededFaults, WavesThatHaveEndedMissNoBarrier) {
  AmdKernel kernel(R"~(KERNEL(128) kernel(const float* in, float* out) {
    if (thread() >= 64) return;
    SHARED float room[64];
    room[thread()] = in[thread()];
    barrier();
    out[thread()] = room[63 - thread()];
  })~",
                   "kernel", GetParam());
  const float* in = kernel.make(std::vector<float>(64, 2.0f));
  auto* out = kernel.make<float>(64);
  kernel.run({.threads = {128}}, in, out);
  EXPECT_EQ(out[5], 2.0f);
}

TEST_P(SeededFaults, MemoryThatNobodyWrote) {
  AmdKernel kernel(R"~(KERNEL(64) kernel(const float* in, float* out) { out[thread()] = in[thread()]; })~", "kernel",
                   GetParam());
  auto* out = kernel.make<float>(64);
  auto* in = kernel.make<float>(64);
  for (int i = 0; i < 64; ++i)
    if (i != 37) kernel.memory().mark_written(reinterpret_cast<uint64_t>(in + i), 4);
  const Defect found = kernel.find({.threads = {64}}, in, out);
  EXPECT_EQ(found.kind, DefectKind::uninitialised) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("global_load_dword "));
  EXPECT_EQ(found.lane, 37);
  kernel.run({.threads = {64}, .checks = {.uninitialised = false}}, in, out);
}

// Sums of waves go into one place a wave; a reader that counts waves of 32 lanes finds places that nobody wrote.
TEST_P(SeededFaults, WavesTakenFor32Lanes) {
  const Defect found = twins({R"~(KERNEL(256) kernel(const float* in, float* out, int n) {
    constexpr u32 lanes = 32;
    SHARED float part[256 / lanes];
    float sum = in[thread()];
    for (u32 with = __builtin_amdgcn_wavefrontsize() / 2; with > 0; with /= 2)
      sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((thread() ^ with) * 4, __builtin_bit_cast(int, sum)));
    if (thread() % __builtin_amdgcn_wavefrontsize() == 0) part[thread() / __builtin_amdgcn_wavefrontsize()] = sum;
    barrier();
    float total = 0;
    for (u32 w = 0; w < 256 / lanes; ++w) total += part[w];
    out[thread()] = total;
  })~",
                              "lanes = 32", "lanes = 64"},
                             {.threads = {256}}, 256);
  EXPECT_EQ(found.kind, DefectKind::uninitialised) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_read"));
}

// A tile whose rows hold one value a lane of 32 lanes: with 64, a wave writes into the next wave's row.
TEST_P(SeededFaults, ATileMadeForAnotherLaneCount) {
  const Defect found = twins({R"~(KERNEL(256) kernel(const float* in, float* out, int n) {
    constexpr u32 columns = 32;
    SHARED float tile[4][columns];
    const u32 lane = thread() % 64, row = thread() / 64;
    (&tile[0][0])[row * columns + lane] = in[thread()];
    barrier();
    out[thread()] = (&tile[0][0])[row * columns + lane];
  })~",
                              "columns = 32", "columns = 64"},
                             {.threads = {256}}, 256);
  EXPECT_THAT(found.kind, ::testing::AnyOf(DefectKind::lds_race, DefectKind::out_of_bounds)) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("ds_write"));
}

TEST_P(SeededFaults, AGroupThatReadsWhatAnotherWrites) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    const u32 i = group() * 64 + thread();
    out[i] = in[i];
    const float* mine = out;
    if (group() > 0) mine -= 64; // another's
    out[i] = mine[i] + 1;
  })~",
                              "mine -= 64; // another's", "mine += 0;"},
                             {.groups = {4}, .threads = {64}}, 256);
  EXPECT_EQ(found.kind, DefectKind::global_race) << found.text();
  EXPECT_THAT(found.instruction, AnyOf(StartsWith("global_load_dword "), StartsWith("global_store_dword ")));
}

// A group that has read a value as others have may not change it.
TEST_P(SeededFaults, AGroupThatWritesWhatAllHaveRead) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    const float x = in[thread()];
    float* to = out + group() * 64;
    if (group() == 3) to = (float*)in; // another place than its own
    to[thread()] = x + 1;
  })~",
                              "to = (float*)in; // another place than its own", ""},
                             {.groups = {4}, .threads = {64}}, 256);
  EXPECT_EQ(found.kind, DefectKind::global_race) << found.text();
  EXPECT_THAT(found.instruction, StartsWith("global_store_dword "));
  EXPECT_EQ(found.group[0], 3u);
}

// Launches come one after the other, whichever groups of theirs touch the same memory.
TEST_P(SeededFaults, WhatTheLaunchBeforeWroteIsNoRace) {
  AmdKernel kernel(R"~(KERNEL(64) kernel(float* x, u32 with) { x[(group() ^ with) * 64 + thread()] += 1; })~", "kernel",
                   GetParam());
  auto* x = kernel.make(std::vector<float>(256, 0.0f));
  for (const uint32_t with : {0u, 1u, 3u}) kernel.run({.groups = {4}, .threads = {64}}, x, with);
  EXPECT_EQ(x[200], 3.0f);
}

// Two groups write one dword, each its own half.
TEST_P(SeededFaults, HalvesOfADwordAreNoRace) {
  AmdKernel kernel(R"~(KERNEL(63) kernel(u16* x) { x[group() * 63 + thread()] += 1; })~", "kernel", GetParam());
  auto* x = kernel.make(std::vector<uint16_t>(63 * 8, 7));
  for (const int cores : {1, 2}) kernel.run({.groups = {8}, .threads = {63}, .cores = cores}, x);
  EXPECT_EQ(x[63], 9);
}

// The last group of all adds up what the others have written before they counted themselves.
TEST_P(SeededFaults, WhatAnAtomicCounterOrdersIsNoRace) {
  AmdKernel kernel(R"~(KERNEL(64) kernel(float* parts, u32* counter, float* total) {
    if (thread() == 0) {
      parts[group()] = 1.0f + group();
      const u32 before = __hip_atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      if (before == 7) {
        float sum = 0;
        for (int g = 0; g < 8; ++g) sum += parts[g];
        *total = sum;
      }
    }
  })~",
                   "kernel", GetParam());
  auto* parts = kernel.make<float>(8);
  auto* counter = kernel.make(std::vector<uint32_t>{0});
  auto* total = kernel.make<float>(1);
  kernel.run({.groups = {8}, .threads = {64}, .cores = 2}, parts, counter, total);
  EXPECT_EQ(*total, 36.0f);
}

// An atomic that tells the first group something is no excuse for those that the same core runs after it.
TEST_P(SeededFaults, IncludeARaceDespiteAnotherGroupsAtomic) {
  const Defect found = twins({R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    const u32 i = group() * 64 + thread();
    if (group() == 0) {
      out[i] = __hip_atomic_fetch_add((u32*)out + i, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      return;
    }
    const float* mine = out;
    if (group() > 1) mine -= 64; // another's
    out[i] = in[i];
    out[i] = mine[i] + 1;
  })~",
                              "mine -= 64; // another's", "mine += 0;"},
                             {.groups = {4}, .threads = {64}, .checks = {.uninitialised = false}}, 256);
  EXPECT_EQ(found.kind, DefectKind::global_race) << found.text();
}

// Neither hides the other, nor what is right behind them.
TEST_P(SeededFaults, TwoFaultsOfOneKernelAreBothTold) {
  AmdKernel kernel(R"~(KERNEL(128) kernel(const float* in, float* out) {
    SHARED float room[128];
    float x, y;
    asm volatile("global_load_dword %0, %1, off" : "=v"(x) : "v"(in + thread()));
    room[thread()] = x + 1;
    asm volatile("s_waitcnt vmcnt(0)\nglobal_load_dword %0, %1, off offset:4" : "=v"(y) : "v"(in + thread()));
    out[thread()] = y * 2;
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
    out[thread()] = room[127 - thread()];
  })~",
                   "kernel", GetParam());
  const float* in = kernel.make(std::vector<float>(130, 1.0f));
  auto* out = kernel.make<float>(128);
  const auto run = kernel.try_run({.threads = {128}, .checks = {.uninitialised = false}}, in, out);
  ASSERT_TRUE(run) << run.error().message;
  std::vector<DefectKind> kinds;
  for (const Defect& defect : run->defects) kinds.push_back(defect.kind);
  using enum DefectKind;
  ASSERT_GE(kinds.size(), 3u) << text_of(run->defects);
  EXPECT_EQ(std::ranges::count(kinds, missing_wait), 2) << text_of(run->defects);
  EXPECT_EQ(kinds.back(), lds_race) << text_of(run->defects);
  EXPECT_EQ(out[100], 2.0f);
}

// What nobody wrote leads beyond an allocation: both are told, and the second ends the launch.
TEST_P(SeededFaults, StandBehindTheFaultThatCausedThem) {
  AmdKernel kernel(R"~(KERNEL(64) kernel(const u32* at, float* out) { out[at[thread()]] = 1; })~", "kernel",
                   GetParam());
  const auto* at = kernel.make<uint32_t>(64);
  auto* far = const_cast<uint32_t*>(at);
  std::fill_n(far, 64, 1u << 20);
  auto* out = kernel.make<float>(64);
  const auto run = kernel.try_run({.threads = {64}}, at, out);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->defects.size(), 2u) << text_of(run->defects);
  EXPECT_EQ(run->defects[0].kind, DefectKind::uninitialised);
  EXPECT_EQ(run->defects[1].kind, DefectKind::out_of_bounds);
}

TEST_P(SeededFaults, AnEndlessLoop) {
  AmdKernel kernel(R"~(KERNEL(64) kernel(volatile u32* flag) { while (*flag == 0) {} })~", "kernel", GetParam());
  auto* flag = kernel.make(std::vector<uint32_t>{0});
  const Defect found = kernel.find({.threads = {64}, .checks = {.most_instructions = 100000}}, flag);
  EXPECT_EQ(found.kind, DefectKind::endless) << found.text();
}

TEST_P(SeededFaults, AMisalignedAtomic) {
  AmdKernel kernel(
      R"~(KERNEL(64) kernel(char* out) { __builtin_amdgcn_global_atomic_fadd_f32((__attribute__((address_space(1))) float*)(out + 1 + 4 * thread()), 1.0f); })~",
      "kernel", GetParam());
  auto* out = kernel.make(std::vector<float>(65, 1.0f));
  const Defect found = kernel.find({.threads = {64}}, out);
  EXPECT_EQ(found.kind, DefectKind::misaligned) << found.text();
}

// The HSA runtimes allow it of loads and stores.
TEST_P(SeededFaults, ALoadAtAnyAddressIsNone) {
  AmdKernel kernel(
      R"~(KERNEL(64) kernel(const char* in, float* out) { out[thread()] = *(const float*)(in + 1 + 4 * thread()); })~",
      "kernel", GetParam());
  const float* in = kernel.make(std::vector<float>(65, 1.0f));
  auto* out = kernel.make<float>(64);
  kernel.run({.threads = {64}}, in, out);
}

TEST_P(SeededFaults, LdsBeyondTheGroups) {
  AmdKernel kernel(R"~(KERNEL(64) kernel(float* out, u32 by) {
    extern SHARED float room[];
    room[thread()] = 1;
    out[thread()] = room[thread() * by];
  })~",
                   "kernel", GetParam());
  auto* out = kernel.make<float>(64);
  const Defect found = kernel.find({.threads = {64}, .dynamic_lds_bytes = 256}, out, 2u);
  EXPECT_EQ(found.kind, DefectKind::out_of_bounds) << found.text();
  EXPECT_EQ(found.lane, 32);
  kernel.run({.threads = {64}, .dynamic_lds_bytes = 256}, out, 1u);
}

}  // namespace
}  // namespace rung::amdgpu
