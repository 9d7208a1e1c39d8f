// Generated kernels of GPUs: what NVRTC makes of their source where no GPU is, how much a thread loads, what is
// refused, and that code is compiled once.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/gpu/compilers/compiler.hpp"
#include "ir/text.hpp"
#include "kernels/generated/gpu/code.hpp"
#include "support/cubin.hpp"
#include "support/problem_in.hpp"
#include "support/temporary_directory.hpp"

namespace rung::gpu {
namespace {

using ::testing::HasSubstr;

const GpuInfo kHopper{.name = "H100", .runtime = "cuda", .architecture = 90, .multiprocessors = 132, .lanes = 32};
const GpuInfo kInstinct{
    .name = "emulated", .runtime = "emu", .architecture = 0x942, .multiprocessors = 304, .lanes = 64};

Problem problem_of(const std::string& text) {
  auto graph = parse_graph("y = " + text);
  EXPECT_TRUE(graph) << text << ": " << graph.error().message;
  return test::problem_in(*graph, graph->outputs()[0].node);
}
Result<GeneratedSource> source_of(const std::string& text, const GpuInfo& gpu = kHopper) {
  return generate_source(problem_of(text), gpu);
}
std::string refusal_of(const std::string& text) {
  const auto source = source_of(text);
  return source ? "taken" : source.error().message;
}
std::string region(const std::string& operands, const std::string& program) {
  return "region(" + operands + ", program=\"" + program + "\")";
}
const std::string kSoftmax =
    "r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=div(r3,r4);return r5:bf16,r4:f32";

const std::vector<std::string> kProblems = {
    "pointwise(x:bf16[4096,4096], y:f32[4096], program=\"r2=gelu(r0);r3=mul(r2,r1);r4=tanh(r3)\", out=bf16)",
    "pointwise(transpose(x:f16[90,70], permutation=[1,0]), k:bool[70,1], program=\"r2=select(r1,r0,-inf)\", out=f16)",
    region("x:bf16[64,1000]", kSoftmax),
    region("x:f32[512,16384]", kSoftmax),
    region("x:f16[7,37], w:f16[37]",
           "r2=row_mean(r0);r3=sub(r0,r2);r4=mul(r3,r1);r5=gt(r4,0);return r4:f16,r5:bool,r2:f32"),
};

TEST(GeneratedSource, BecomesACubinWithOneEntry) {
  if (const auto version = nvrtc.version(); !version) GTEST_SKIP() << version.error().message;
  for (const std::string& text : kProblems) {
    const auto source = source_of(text);
    ASSERT_TRUE(source) << text << ": " << source.error().message;
    const auto image = nvrtc.compile(source->text, kHopper.architecture);
    ASSERT_TRUE(image) << text << ": " << image.error().message;
    EXPECT_EQ(testing::cubin::entries(*image), std::set<std::string>{kGeneratedEntry}) << text;
  }
}

TEST(GeneratedSource, NamesWhatACompilerSaid) {
  if (const auto version = nvrtc.version(); !version) GTEST_SKIP() << version.error().message;
  const auto image = nvrtc.compile("not a kernel", kHopper.architecture);
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("generated.cu"));
}

TEST(GeneratedSource, LoadsSixteenBytesWhereStridesAllowIt) {
  const auto wide = source_of("pointwise(x:bf16[4096,4096], program=\"r1=exp(r0)\", out=bf16)");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->bytes_in_flight, 16u);
  EXPECT_THAT(wide->text, HasSubstr("Pack<Bf16, 8>"));
  const auto odd = source_of("pointwise(x:bf16[4096,4095], y:bf16[4096,1], program=\"r2=add(r0,r1)\", out=bf16)");
  ASSERT_TRUE(odd);
  EXPECT_THAT(odd->text, HasSubstr("Pack<Bf16, 1>"));
}

TEST(GeneratedSource, PrefersBlocksToNeighbours) {
  const auto few = source_of("pointwise(x:f32[64,64], program=\"r1=exp(r0)\")");
  ASSERT_TRUE(few);
  EXPECT_EQ(few->blocks, 16u);
}

TEST(GeneratedSource, GivesLongRowsABlock) {
  const auto threads = [](const std::string& shape) {
    const auto source = source_of(region("x:f32" + shape, "r1=row_sum(r0);r2=div(r0,r1);return r2:f32"));
    return source ? source->threads : 0;
  };
  EXPECT_EQ(threads("[8,128]"), 32u);
  EXPECT_EQ(threads("[8,8192]"), 256u);
  EXPECT_EQ(threads("[8,32768]"), 1024u);
}

TEST(GeneratedSource, RefusesWhatItHasNoFormFor) {
  EXPECT_THAT(refusal_of("pointwise(x:i64[4], program=\"r1=neg(r0)\")"), HasSubstr("operand 0 is i64"));
  EXPECT_THAT(refusal_of("pointwise(x:f32[4], program=\"r1=neg(r0)\", out=i32)"), HasSubstr("a result is i32"));
  EXPECT_THAT(refusal_of(region("x:f32[4,9]", "r1=row_argmax(r0);return r1:i64")), HasSubstr("row_argmax"));
  EXPECT_THAT(refusal_of(region("x:f32[4,32769]", "r1=row_sum(r0);return r1:f32")),
              HasSubstr("rows of 32769 elements, wanted at most 32768"));
}

TEST(GeneratedCode, WantsACompilerForTheGpu) {
  const auto source = source_of(kProblems[0]);
  ASSERT_TRUE(source);
  const auto code = code_of(*source, {.name = "a card", .runtime = "described", .architecture = 90});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("no compiler makes code for a card"));
}

class CacheVariable {
 public:
  explicit CacheVariable(const std::string& folder) { setenv("RUNG_CACHE_DIR", folder.c_str(), 1); }
  ~CacheVariable() { unsetenv("RUNG_CACHE_DIR"); }
  CacheVariable(const CacheVariable&) = delete;
  CacheVariable& operator=(const CacheVariable&) = delete;
};

TEST(GeneratedCode, IsKeptInTheUsersCache) {
  const GpuInfo& gpu = compiler_for(kHopper) ? kHopper : kInstinct;
  if (const auto compiler = compiler_for(gpu); !compiler) GTEST_SKIP() << compiler.error().message;
  const TemporaryDirectory folder;
  const CacheVariable variable(folder.path());
  const auto source = source_of("pointwise(x:f32[12345], program=\"r1=exp(r0)\")", gpu);
  const auto code = code_of(*source, gpu);
  ASSERT_TRUE(code) << code.error().message;
  const std::string file = folder / "generated/" + (*code)->name;
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(code_of(*source, gpu)->get(), code->get()) << "the process has it";
}

}  // namespace
}  // namespace rung::gpu
