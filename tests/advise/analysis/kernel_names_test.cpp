// Names of kernels, as libraries write them, and what they must be taken for.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ostream>

#include "advise/analysis/category.hpp"

namespace rung::advise {
namespace {

struct Row {
  Category category;
  std::string_view library, name;
};

constexpr Row kRows[] = {
#define ROW(category, library, name) {Category::category, library, name},
#include "advise/analysis/kernel_names.inc"
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
    EXPECT_EQ(classify_kernel(name).category, Category::unclassified) << name;
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
    EXPECT_NE(classify_kernel(name).category, Category::unclassified) << name;
    EXPECT_NE(classify_kernel(name).library, "PyTorch") << name;
  }
}

// "^" in a rule means the beginning: a name that mentions another's is not that.
TEST(KernelNames, AreNotTakenForWhatTheyMention) {
  EXPECT_NE(classify_kernel("foo_nvjet_like").library, "cuBLAS");
  EXPECT_NE(classify_kernel("my_triton_poi_thing").library, "Triton");
  EXPECT_EQ(classify_kernel("triton_poi_fused_clone_x").category, Category::elementwise);  // '#' is a digit
  EXPECT_EQ(classify_kernel("triton_poi_fused_clone_add_3").category, Category::elementwise);
}

TEST(KernelNames, OfAMegabyteAreClassified) {
  std::string name(1 << 20, 'x');
  EXPECT_EQ(classify_kernel(name).category, Category::unclassified);
  EXPECT_EQ(classify_kernel("Cijk_" + name).library, "rocBLAS (Tensile)");
}

}  // namespace
}  // namespace rung::advise
