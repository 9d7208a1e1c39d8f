// Generated kernels of GPUs: what NVRTC makes of their source where no GPU is, how much a thread loads, what is
// refused, and that code is compiled once.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/atomic_file.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "ir/text.hpp"
#include "kernels/generated/gpu/code_cache.hpp"
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
    region("x:f32[3,7000]", "r1=row_cumsum(r0);r2=row_argmax(r1);return r1:f32,r2:i64"),
    region("x:f32[3,70]", "r1=row_cumprod(r0);r2=row_argmax(r1);return r1:f32,r2:i64"),
    "formula(x:i64[37], y:i64[37], kind=int_pow)",
    "formula(x:u8[37], y:u8[37], kind=floor_mod)",
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

TEST(GeneratedSource, ReadsWholeLinesOfWideElements) {
  const auto source = source_of("pointwise(x:f32[4096,4096], program=\"r1=exp(r0)\")");
  ASSERT_TRUE(source);
  EXPECT_THAT(source->text, HasSubstr("Pack<float, 4> p0[2]"));
  EXPECT_EQ(source->bytes_in_flight, 32u);
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
  EXPECT_EQ(threads("[8,768]"), 256u);  // few rows: a thread does little in a row
  EXPECT_EQ(threads("[8,8192]"), 256u);
  EXPECT_EQ(threads("[8,32768]"), 1024u);
}

TEST(GeneratedSource, LetsShortRowsShareAWarp) {
  const auto source = source_of(region("x:bf16[1048576,32]", "r1=row_sum(r0);r2=div(r0,r1);return r2:bf16"));
  ASSERT_TRUE(source);
  EXPECT_THAT(source->text, HasSubstr("me = thread_in_block() % 4u"));
  EXPECT_EQ(source->blocks, 1048576u / 64);
}

TEST(GeneratedSource, RefusesWhatItHasNoFormFor) {
  EXPECT_THAT(refusal_of("pointwise(x:i64[4], program=\"r1=neg(r0)\")"), HasSubstr("operand 0 is i64"));
  EXPECT_THAT(refusal_of("pointwise(x:f32[4], program=\"r1=neg(r0)\", out=i32)"), HasSubstr("a result is i32"));
  EXPECT_THAT(refusal_of(region("x:f32[4,32769]", "r1=row_sum(r0);return r1:f32")),
              HasSubstr("rows of 32769 elements, wanted at most 32768"));
}

TEST(GeneratedCode, WantsACompilerForTheGpu) {
  const auto source = source_of(kProblems[0]);
  ASSERT_TRUE(source);
  const auto code = code_of(source->text, {.name = "a card", .runtime = "described", .architecture = 90});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("no compiler makes code for a card"));
}

// A cache of the test's own, and a GPU for which a compiler is here.
class CompiledCode : public ::testing::Test {
 protected:
  const TemporaryDirectory folder;
  const GpuInfo& gpu = compiler_for(kHopper) ? kHopper : kInstinct;

  void SetUp() override {
    setenv("RUNG_CACHE_DIR", folder.path().c_str(), 1);
    if (const auto compiler = compiler_for(gpu); !compiler) GTEST_SKIP() << compiler.error().message;
  }
  void TearDown() override { unsetenv("RUNG_CACHE_DIR"); }
  // Sources that no other test compiles: `first` elements, then one more each.
  std::vector<std::string> sources(size_t count, int first) const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i)
      texts.push_back(source_of(fmt::format("formula(x:f32[{}], kind=asin)", first + i), gpu)->text);
    return texts;
  }
  CodePointer code(const std::string& source) const {
    auto found = code_of(source, gpu);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : nullptr;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    for (const auto& file : std::filesystem::directory_iterator(folder / "generated")) paths.push_back(file.path());
    return paths;
  }
};

TEST_F(CompiledCode, IsCompiledOnceInAProcess) {
  const auto source = sources(1, 1000)[0];
  const size_t before = compilations();
  const CodePointer made = code(source);
  EXPECT_EQ(compilations(), before + 1);
  EXPECT_EQ(code(source), made);
  EXPECT_EQ(compilations(), before + 1);
}

TEST_F(CompiledCode, IsKeptInTheUsersCache) {
  const CodePointer made = code(sources(1, 2000)[0]);
  EXPECT_EQ(files().size(), 2u) << "the kernel and its image";
  const auto kept = read_kept_code(made->name);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->source, made->source);
  EXPECT_EQ(kept->target, made->target);
  EXPECT_EQ(kept->compiler, made->compiler);
  EXPECT_EQ(kept->entry, made->entry);
  EXPECT_EQ(kept->image->bytes, made->image->bytes);
}

TEST_F(CompiledCode, IsNotReadFromADamagedFile) {
  const std::string name = code(sources(1, 3000)[0])->name;
  for (const std::string& path : files()) {
    const std::string whole = *read_text_file(path);
    for (const size_t at : {size_t{0}, size_t{15}, size_t{40}, whole.size() / 2, whole.size() - 1}) {
      std::string other = whole;
      other[at] = static_cast<char>(other[at] ^ 1);
      ASSERT_TRUE(write_file_atomically(path, other));
      EXPECT_FALSE(read_kept_code(name)) << path << " with another byte " << at;
      ASSERT_TRUE(write_file_atomically(path, whole.substr(0, at)));
      EXPECT_FALSE(read_kept_code(name)) << path << " of " << at << " bytes";
    }
    ASSERT_TRUE(write_file_atomically(path, whole));
    EXPECT_TRUE(read_kept_code(name));
  }
}

TEST_F(CompiledCode, OfSeveralSourcesSharesImages) {
  const auto texts = sources(40, 4000);
  ASSERT_TRUE(compile_all(texts, gpu));
  std::set<std::string> entries, images;
  for (const std::string& text : texts) {
    const CodePointer each = code(text);
    images.insert(each->image->hash);
    entries.insert(each->image->hash + each->entry);
    EXPECT_THAT(each->image->bytes, HasSubstr(each->entry));
  }
  EXPECT_EQ(entries.size(), texts.size());
  EXPECT_LT(images.size(), texts.size());
  const auto kept = read_kept_code(code(texts[7])->name);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->entry, code(texts[7])->entry);
}

TEST_F(CompiledCode, OfOthersIsMadeBesideARefusedSource) {
  auto texts = sources(6, 5000);
  texts[3] = "not a kernel";
  const size_t before = compilations();
  const Status done = compile_all(texts, gpu);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("generated."));
  EXPECT_EQ(compilations(), before + 5);
}

// The hash in a name may be made to agree; the source decides.
TEST_F(CompiledCode, IsFoundForItsOwnSourceAlone) {
  const CodePointer made = code(sources(1, 6000)[0]);
  EXPECT_EQ(compiled_before(made->source, made->target, made->compiler), made);
  EXPECT_EQ(compiled_before(made->source + ' ', made->target, made->compiler), nullptr);
  EXPECT_EQ(compiled_before(made->source, made->target, "another compiler"), nullptr);
  GeneratedCode forged = *made;
  forged.source += ' ';
  forged.name = code_name(sources(1, 6100)[0], made->target, made->compiler);
  keep_code(forged);
  EXPECT_TRUE(read_kept_code(forged.name));
  EXPECT_EQ(compiled_before(sources(1, 6100)[0], made->target, made->compiler), nullptr);
  EXPECT_EQ(code(sources(1, 6100)[0])->source, sources(1, 6100)[0]);
}

}  // namespace
}  // namespace rung::gpu
