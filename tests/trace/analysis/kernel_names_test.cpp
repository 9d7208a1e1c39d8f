// Names of kernels, as libraries write them, and what they must be taken for.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ostream>

#include "trace/analysis/category.hpp"
#include "trace/analysis/kernel_name.hpp"

namespace rung::trace {
namespace {

struct Row {
  KernelCategory category;
  std::string_view library, name;
};

constexpr Row kRows[] = {
#define ROW(category, library, name) {KernelCategory::category, library, name},
#include "trace/analysis/kernel_names.inc"
#include "trace/analysis/kernel_names_stacks.inc"
#undef ROW
};

TEST(KernelNames, AreTakenForWhatTheyAre) {
  for (const Row& row : kRows) {
    const KernelClass kind = classify_kernel(row.name);
    EXPECT_EQ(name_of(kind.category), name_of(row.category)) << row.name;
    EXPECT_EQ(kind.library, row.library) << row.name;
  }
}

TEST(KernelNames, WithoutAWordThatIsKnownAreUnclassified) {
  for (const std::string_view name : {"", "k", "void", "_Z", "_Z3", "my_own_thing", "^", "#", "void "}) {
    EXPECT_EQ(classify_kernel(name).category, KernelCategory::unclassified) << name;
    EXPECT_EQ(classify_kernel(name).library, "") << name;
  }
}

// Rows of rung's own kernels, in the profiles that it writes.
TEST(KernelNames, OfAllRungsRowsAreKnown) {
  constexpr std::string_view kOwn[] = {
#define RUNG_GPU_KERNEL(name) #name,
#define RUNG_CPU_KERNEL(name) #name,
#include "kernels/cpu/kernels.inc"
#include "kernels/gpu/kernels.inc"
#undef RUNG_CPU_KERNEL
#undef RUNG_GPU_KERNEL
  };
  EXPECT_GT(std::size(kOwn), 80u);
  for (const std::string_view name : kOwn) {
    EXPECT_NE(classify_kernel(name).category, KernelCategory::unclassified) << name;
    EXPECT_NE(classify_kernel(name).library, "PyTorch") << name;
  }
}

// "^" in a rule means the beginning: a name that mentions another's is not that.
TEST(KernelNames, AreNotTakenForWhatTheyMention) {
  EXPECT_NE(classify_kernel("foo_nvjet_like").library, "cuBLAS");
  EXPECT_NE(classify_kernel("my_triton_poi_thing").library, "Triton");
  EXPECT_EQ(classify_kernel("triton_poi_fused_clone_x").category, KernelCategory::elementwise);  // '#' is a digit
  EXPECT_EQ(classify_kernel("triton_poi_fused_clone_add_3").category, KernelCategory::elementwise);
}

// Template arguments and parameters name what a kernel is given, not what it is.
TEST(KernelNames, AreNotTakenForWhatTheyAreGiven) {
  for (const std::string_view name :
       {"void mine<cutlass::bfloat16_t>(cutlass::gemm::GemmCoord)", "void mine<fbgemm_gpu::FixedDivisor>(int)",
        "_ZN4mine4workIN7cutlass10bfloat16_tEEEvPT_", "void a::threadblock::mine<ck::Tuple<int> >(flash::Params)"})
    EXPECT_EQ(classify_kernel(name).category, KernelCategory::unclassified) << name;
}

// "threadblock" has no word "ck", "bilinear" no "linear".
TEST(KernelNames, AreFoundByWholeWords) {
  for (const std::string_view name : {"threadblock", "mystack::work", "bilinear", "comma", "assume"})
    EXPECT_EQ(classify_kernel(name).category, KernelCategory::unclassified) << name;
  EXPECT_EQ(classify_kernel("my_linear_2").category, KernelCategory::gemm);
  EXPECT_EQ(classify_kernel("SUM").category, KernelCategory::reduction);
}

TEST(KernelNames, OfInductorAreCopiesOnlyForPureMoves) {
  const auto category = [](std::string_view name) { return classify_kernel(name).category; };
  EXPECT_EQ(category("triton_poi_fused_clone_transpose_21"), KernelCategory::copy);
  EXPECT_EQ(category("triton_poi_fused_clone_mul_transpose_21"), KernelCategory::elementwise);
  EXPECT_EQ(category("triton_poi_fused_view_21"), KernelCategory::elementwise) << "a view alone is no kernel";
  EXPECT_EQ(category("triton_poi_fused_clone_"), KernelCategory::elementwise);
  EXPECT_EQ(category("triton_poi_fused_"), KernelCategory::elementwise);
  EXPECT_EQ(category("triton_red_fused_clone_3"), KernelCategory::reduction);
}

TEST(KernelNames, AreSplitIntoNameAndArguments) {
  const auto parts = [](std::string_view name) {
    const KernelName made = kernel_name_parts(name);
    return std::pair(made.own, made.arguments);
  };
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(parts("void (anonymous namespace)::k<a::B<4> >(int)"), Parts("k", "<a::B<4> >(int)"));
  EXPECT_EQ(parts("ns::k(float*) [clone .kd]"), Parts("ns::k", "(float*) [clone .kd]"));
  EXPECT_EQ(parts("plain name"), Parts("plain name", ""));
  EXPECT_EQ(parts("_ZN2ns12_GLOBAL__N_11kILi128ENS_1BEEEvPKf"), Parts("ns::k", "B"));
  EXPECT_EQ(parts("_Z6kernelI7Params3EvT_"), Parts("kernel", "Params3"));
  EXPECT_EQ(parts("_ZN2ns99cut_short"), Parts("ns::cut_short", "")) << "a name that its profiler cut";
  EXPECT_EQ(parts("_Z"), Parts("_Z", ""));
  EXPECT_EQ(parts(""), Parts());
}

TEST(KernelNames, OfAMegabyteAreClassified) {
  std::string name(1 << 20, 'x');
  EXPECT_EQ(classify_kernel(name).category, KernelCategory::unclassified);
  EXPECT_EQ(classify_kernel("Cijk_" + name).library, "rocBLAS (Tensile)");
}

}  // namespace
}  // namespace rung::trace
