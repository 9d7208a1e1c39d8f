// What is declared by hand of hipBLASLt, against its own header where the compiler finds it (RUNG_HIP_HEADERS names the
// folder). A difference does not compile.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/call_compare.hpp"
#include "device/gpu/hipblaslt.hpp"

#if __has_include(<hipblaslt/hipblaslt.h>)
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <hipblaslt/hipblaslt.h>
#endif

namespace rung::gpu {
namespace {

#ifdef HIPBLASLT_EXPORT

using Algorithm = HipblasltTypes::Algorithm;
using Proposal = HipblasltTypes::Proposal;
constexpr const LtNumbers& kNumbers = HipblasltTypes::kNumbers;

#define RUNG_LT_FUNCTION(name, ...)                                                             \
  static_assert(SameCall<std::add_pointer_t<__VA_ARGS__>, decltype(&::hipblasLt##name)>::value, \
                "hipblasLt" #name " is declared otherwise");
#include "device/gpu/lt_functions.inc"
#undef RUNG_LT_FUNCTION

static_assert(sizeof(Algorithm) == sizeof(hipblasLtMatmulAlgo_t));
static_assert(sizeof(Proposal) == sizeof(hipblasLtMatmulHeuristicResult_t));
static_assert(offsetof(Proposal, workspace_bytes) == offsetof(hipblasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Proposal, status) == offsetof(hipblasLtMatmulHeuristicResult_t, state));
static_assert(kNumbers.compute_f32 == static_cast<int>(HIPBLAS_COMPUTE_32F));
static_assert(kNumbers.transpose == static_cast<int>(HIPBLAS_OP_T));
static_assert(kNumbers.transpose_a == static_cast<int>(HIPBLASLT_MATMUL_DESC_TRANSA));
static_assert(kNumbers.epilogue == static_cast<int>(HIPBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(kNumbers.bias_pointer == static_cast<int>(HIPBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(kNumbers.bias_type == static_cast<int>(HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
static_assert(kNumbers.batch_count == static_cast<int>(HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
static_assert(kNumbers.batch_stride == static_cast<int>(HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
static_assert(kLtMaxWorkspace == static_cast<int>(HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(kLtDefault == static_cast<int>(HIPBLASLT_EPILOGUE_DEFAULT));
static_assert(kLtRelu == static_cast<int>(HIPBLASLT_EPILOGUE_RELU));
static_assert(kLtBias == static_cast<int>(HIPBLASLT_EPILOGUE_BIAS));
static_assert(kLtGelu == static_cast<int>(HIPBLASLT_EPILOGUE_GELU));
static_assert(kLtF32 == static_cast<int>(HIP_R_32F) && kLtF16 == static_cast<int>(HIP_R_16F));
static_assert(kLtBf16 == static_cast<int>(HIP_R_16BF));

TEST(HipblasltHeaders, AgreeWithWhatIsDeclaredByHand) { SUCCEED() << "it compiled"; }

#else

TEST(HipblasltHeaders, AgreeWithWhatIsDeclaredByHand) {
  GTEST_SKIP() << "no <hipblaslt/hipblaslt.h> where this was compiled; RUNG_HIP_HEADERS names a folder";
}

#endif

}  // namespace
}  // namespace rung::gpu
