// The packed linear over AMX's micro-kernel for i8, whose instructions are emulated here, against a plain loop.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "emulated_amx.hpp"
#include "kernels/cpu/linear/packed.hpp"
#include "linear_case.hpp"

namespace rung::cpu {
namespace {

gemm::PackedPlan plan_for(const Problem& problem, const Machine& machine) {
  return {problem, gemm::kEmulatedAmxInt8, machine};
}
void run(const Call& call) { gemm::run(*static_cast<const gemm::PackedPlan*>(call.state), call); }
size_t scratch_bytes(const Problem& problem, const Machine& machine) {
  const gemm::PackedPlan plan = plan_for(problem, machine);
  return plan.copy_bytes + plan.sums_bytes * static_cast<size_t>(problem.threads);
}
size_t packed_bytes(const Problem& problem, const Machine& machine, size_t i) {
  return i == 1 ? gemm::packed_bytes(plan_for(problem, machine)) : 0;
}
void pack(const Problem& problem, const Machine& machine, size_t, const void* from, void* to) {
  gemm::pack(plan_for(problem, machine), from, to);
}
std::shared_ptr<void> prepare(const Problem& problem, const Machine& machine) {
  return std::make_shared<gemm::PackedPlan>(plan_for(problem, machine));
}
Split split(const Problem& problem, const Machine& machine) {
  return plan_for(problem, machine).split(problem.threads);
}

constexpr Kernel kEmulated{.name = "linear_amx_int8_emulated",
                           .op = "linear",
                           .supports = nullptr,
                           .run = run,
                           .scratch_bytes = scratch_bytes,
                           .packed_bytes = packed_bytes,
                           .pack = pack,
                           .prepare = prepare,
                           .split = split};

class EmulatedAmx : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_info().avx512_vnni) GTEST_SKIP() << "the processor has no AVX-512 VNNI";
  }
  static void check(LinearCase c) {
    c.x = c.w = DType::i8;
    for (const int threads : {1, 2}) {
      c.threads = threads;
      const LinearData data = make_data(c);
      EXPECT_EQ(compare(c, data, run_row(kEmulated, c, data, 1)[0], false), "");
    }
  }
};

TEST_F(EmulatedAmx, MatchesPlainLoopForRowsOfTiles) {
  for (const int64_t m : {1, 15, 16, 17, 32, 33, 70}) check({.m = m, .n = 48, .k = 64});
}

TEST_F(EmulatedAmx, MatchesPlainLoopForOddColumnsAndDepths) {
  for (const int64_t n : {1, 31, 33})
    for (const int64_t k : {1, 63, 65, 200}) check({.m = 5, .n = n, .k = k, .bias = true, .residual = true});
}

TEST_F(EmulatedAmx, MultipliesGateByUpInBlocksOfDepth) {
  check({.m = 20, .n = 40, .k = 1600, .activation = Activation::silu, .bias = true, .gated = true, .x_gap = 5});
}

}  // namespace
}  // namespace rung::cpu
