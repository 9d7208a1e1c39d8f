// Sources of generated kernels for NVIDIA's GPUs, of all problems that their rows take, where none of these GPUs is.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/gpu/compilers/compiler.hpp"
#include "harness.hpp"
#include "kernels/generated/gpu/code.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/machines.hpp"

namespace rung::test {
namespace {

TEST(GeneratedKernels, OfAllProblemsCompileForNvidia) {
  const Machine hopper = testing::hopper();
  if (const auto compiler = gpu::compiler_for(hopper.gpu); !compiler) GTEST_SKIP() << compiler.error().message;
  std::vector<std::string> sources;
  for (const Kernel* row : gpu::all_kernels())
    for (const Case& test : unanswered_cases())
      if (row->source && op_family(test.problem.op) == row->op && row->supports(test.problem, hopper))
        sources.push_back(row->source(test.problem, hopper)->text);
  EXPECT_GT(sources.size(), 200u);
  const Status compiled = gpu::compile_all(sources, hopper.gpu);
  EXPECT_TRUE(compiled) << compiled.error().message;
}

}  // namespace
}  // namespace rung::test
