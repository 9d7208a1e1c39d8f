// rung env: text, shell and Dockerfile for a stack on a GPU; one error for words that it does not know.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

TEST(Env, ListsSettingsForAStackOnAGpu) {
  Tool tool;
  const Ran ran = tool.run({"env", "--stack", "vllm", "--gpu", "mi300x"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("vllm on AMD Instinct MI300X, for latency"));
  EXPECT_THAT(ran.out, HasSubstr("NCCL_MIN_NCHANNELS=112"));
}

TEST(Env, KnowsMi350FromMi300) {
  Tool tool;
  const Ran ran = tool.run({"env", "--stack", "pytorch", "--gpu", "mi355x", "--goal", "latency", "--format", "shell"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("# export TORCH_BLAS_PREFER_HIPBLASLT=1\n"));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("NCCL_MIN_NCHANNELS")));
}

TEST(Env, KnowsSglangOnMi200) {
  Tool tool;
  const Ran ran = tool.run({"env", "--stack", "sglang", "--gpu", "mi250", "--format", "shell"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("# sglang on AMD Instinct MI250"));
  EXPECT_THAT(ran.out, HasSubstr("# python -m sglang.launch_server --model-path MODEL \"${SERVE_FLAGS[@]}\"\n"));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("vllm serve")));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("fp8")));
}

TEST(Env, WritesADockerfile) {
  Tool tool;
  const Ran ran = tool.run({"env", "--stack", "pytorch", "--gpu", "h200", "--format", "dockerfile"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("# ENV CUDA_MODULE_LOADING=EAGER\n"));
}

TEST(Env, RefusesWhatItDoesNotKnow) {
  Tool tool;
  expect_error(tool.run({"env", "--stack", "vllm", "--gpu", "mi999"}), 2, "wanted one of h100, h200, b200, mi210");
  expect_error(tool.run({"env", "--stack", "tensorrt", "--gpu", "h200"}), 2, "tensorrt");
  expect_error(tool.run({"env", "--stack", "vllm", "--gpu", "h200", "--goal", "throughput"}), 2, "throughput");
  const Ran both = tool.run({"env", "--stack", "vllm", "--gpu", "h200", "--format", "shell", "--json"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.out, HasSubstr("--json excludes --format"));
  expect_error(tool.run({"env", "--gpu", "h200"}), 2, "--stack");
}

}  // namespace
}  // namespace rung
