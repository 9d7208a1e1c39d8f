// AMD's BLAS library, rocBLAS, opened at run time: products without epilogues, with any strides. Names and numbers are
// those of its API reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "device/gpu/gemm_library.hpp"

namespace rung::gpu {

using RocblasHandle = void*;

struct RocblasLibrary {
#define RUNG_ROCBLAS_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "device/gpu/rocblas_functions.inc"
#undef RUNG_ROCBLAS_FUNCTION
};

// Numbers of the reference, grouped by their enumeration there.
namespace rocblas_number {

enum Form { kAsItIs = 111, kTransposed = 112 };            // rocblas_operation
enum Type { kF16 = 150, kF32 = 151, kBf16 = 168 };         // rocblas_datatype
enum Algorithm { kItsOwnChoice = 0, kSolution = 1 };       // rocblas_gemm_algo
enum Flag : uint32_t { kNoFlag = 0, kCheckSolution = 8 };  // rocblas_gemm_flags: nothing is launched
enum AtomicsMode { kNoAtomics = 0 };                       // rocblas_atomics_mode

}  // namespace rocblas_number

// Errors: no library, or a function missing in it.
Result<const GemmLibrary*> rocblas();

}  // namespace rung::gpu
