// What is declared by hand of rocBLAS, against its own header where the compiler finds it (RUNG_HIP_HEADERS names the
// folder). A difference does not compile.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/call_compare.hpp"
#include "device/gpu/rocblas.hpp"

#if __has_include(<rocblas/rocblas.h>)
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#define ROCBLAS_BETA_FEATURES_API  // the list of solutions is one
#define ROCBLAS_NO_DEPRECATED_WARNINGS
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <rocblas/rocblas.h>
#endif

namespace rung::gpu {
namespace {

#ifdef ROCBLAS_EXPORT

#define RUNG_ROCBLAS_FUNCTION(name, ...)                                                       \
  static_assert(SameCall<std::add_pointer_t<__VA_ARGS__>, decltype(&::rocblas_##name)>::value, \
                "rocblas_" #name " is declared otherwise");
#include "device/gpu/rocblas_functions.inc"
#undef RUNG_ROCBLAS_FUNCTION

using namespace rocblas_number;
static_assert(kAsItIs == static_cast<int>(rocblas_operation_none));
static_assert(kTransposed == static_cast<int>(rocblas_operation_transpose));
static_assert(kF16 == static_cast<int>(rocblas_datatype_f16_r));
static_assert(kF32 == static_cast<int>(rocblas_datatype_f32_r));
static_assert(kBf16 == static_cast<int>(rocblas_datatype_bf16_r));
static_assert(kItsOwnChoice == static_cast<int>(rocblas_gemm_algo_standard));
static_assert(kSolution == static_cast<int>(rocblas_gemm_algo_solution_index));
static_assert(kNoFlag == static_cast<unsigned>(rocblas_gemm_flags_none));
static_assert(kCheckSolution == static_cast<unsigned>(rocblas_gemm_flags_check_solution_index));
static_assert(kNoAtomics == static_cast<int>(rocblas_atomics_not_allowed));

TEST(RocblasHeaders, AgreeWithWhatIsDeclaredByHand) { SUCCEED() << "it compiled"; }

#else

TEST(RocblasHeaders, AgreeWithWhatIsDeclaredByHand) {
  GTEST_SKIP() << "no <rocblas/rocblas.h> where this was compiled; RUNG_HIP_HEADERS names a folder";
}

#endif

}  // namespace
}  // namespace rung::gpu
