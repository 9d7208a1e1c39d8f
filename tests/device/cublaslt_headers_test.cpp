// What is declared by hand of cuBLASLt's algorithms, against its own header where the compiler finds it. A difference
// does not compile.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "device/gpu/cublaslt.hpp"

#if __has_include(<cublasLt.h>) && __has_include(<cuda_runtime_api.h>)
#include <cublasLt.h>
#endif

namespace rung::gpu {
namespace {

#ifdef CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA

constexpr int attribute_of(std::string_view word) {
  return std::ranges::find(kCublasltParameters, word, &CublasltParameter::word)->attribute;
}
static_assert(attribute_of("id") == CUBLASLT_ALGO_CONFIG_ID);
static_assert(attribute_of("tile") == CUBLASLT_ALGO_CONFIG_TILE_ID);
static_assert(attribute_of("stages") == CUBLASLT_ALGO_CONFIG_STAGES_ID);
static_assert(attribute_of("splitk") == CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
static_assert(attribute_of("red") == CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
static_assert(attribute_of("swizzle") == CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING);
static_assert(attribute_of("custom") == CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
static_assert(attribute_of("inner") == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID);
static_assert(attribute_of("cluster") == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);

TEST(CublasltHeaders, AgreeWithWhatIsDeclared) { SUCCEED() << "or this would not have compiled"; }

#else

TEST(CublasltHeaders, AgreeWithWhatIsDeclared) { GTEST_SKIP() << "no cuBLASLt header where this was built"; }

#endif

}  // namespace
}  // namespace rung::gpu
