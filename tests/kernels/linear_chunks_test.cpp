// Products of a decoder's chunks, of one token to hundreds: the layout of their weights, and the cut of their calls.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cpu/kernel.hpp"
#include "linear_case.hpp"

namespace rung::cpu {
namespace {

Machine machine_of_all() {
  CpuInfo processor;
  processor.avx2 = processor.avx512 = processor.avx512_vnni = processor.avx512_bf16 = true;
  processor.amx_bf16 = processor.amx_int8 = true;
  return Machine(processor);
}

const Kernel& row_named(std::string_view name) {
  return **std::ranges::find(all_kernels(), name, [](const Kernel* row) { return row->name; });
}

Problem layer(int64_t tokens, int64_t columns, bool gated = false, DType type = DType::bf16) {
  LinearCase of{.m = tokens, .n = columns, .k = 96, .x = type, .w = type, .out = DType::bf16};
  of.gated = gated, of.threads = 2;
  if (gated) of.activation = Activation::silu;
  Problem problem = problem_of(of);
  problem.inputs[1].constant = true;
  return problem;
}

std::vector<std::byte> packed(const Kernel& row, const Problem& problem) {
  const Shape& shape = problem.inputs[1].shape;
  std::vector<uint16_t> weights(static_cast<size_t>(shape.product()));  // enough for weights of bytes, too
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint16_t>(i);
  std::vector<std::byte> to(row.packed_for(problem, machine_of_all(), 1));
  row.pack(problem, machine_of_all(), 1, weights.data(), to.data());
  return to;
}

TEST(LinearChunks, ReadOneLayoutOfTheWeights) {
  for (const char* name : {"linear_avx2", "linear_avx512", "linear_avx512_bf16", "linear_amx_bf16"})
    for (const bool gated : {false, true}) {
      const auto of_one = packed(row_named(name), layer(1, 72, gated));
      for (const int64_t tokens : {8, 64, 512})
        EXPECT_EQ(packed(row_named(name), layer(tokens, 72, gated)), of_one) << name << ", " << tokens << " tokens";
    }
  for (const char* name : {"linear_avx512_vnni", "linear_amx_int8"}) {
    const auto of_one = packed(row_named(name), layer(1, 72, false, DType::i8));
    for (const int64_t tokens : {8, 64, 512})
      EXPECT_EQ(packed(row_named(name), layer(tokens, 72, false, DType::i8)), of_one) << name << ", " << tokens;
  }
}

// One token multiplies little, but waits for the memory: a thread that is late there must find others to help it.
TEST(LinearChunks, OfOneTokenAreCutByTheirBytes) {
  const auto parts = [](int64_t columns) {
    return row_named("linear_avx512").split_for(layer(1, columns), machine_of_all()).parts;
  };
  EXPECT_EQ(parts(64), 2) << "12 kB";
  EXPECT_EQ(parts(65536), 16) << "12 MB";
}

}  // namespace
}  // namespace rung::cpu
