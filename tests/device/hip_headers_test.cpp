// What is declared by hand of the HIP runtime, against ROCm's own headers where the compiler finds them
// (RUNG_HIP_HEADERS names their folder): function by function, number by number. A difference does not compile.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/call_compare.hpp"
#include "device/gpu/hip_library.hpp"

#if __has_include(<hip/hip_runtime_api.h>)
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#define __HIP_DISABLE_CPP_FUNCTIONS__  // no templates beside the functions that the library exports
#include <hip/hip_runtime_api.h>
#endif

namespace rung::gpu {
namespace {

#if defined(HIP_VERSION) && HIP_VERSION >= 60000000

// What a newer release calls by another name is there under the old one, too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define RUNG_HIP_FUNCTION(name, ...) \
  static_assert(SameCall<std::add_pointer_t<__VA_ARGS__>, decltype(&::name)>::value, #name " is declared otherwise");
#include "device/gpu/hip_functions.inc"
#undef RUNG_HIP_FUNCTION

static_assert(hip::kCooperative == static_cast<int>(hipDeviceAttributeCooperativeLaunch));
static_assert(hip::kL2Bytes == static_cast<int>(hipDeviceAttributeL2CacheSize));
static_assert(hip::kMultiprocessors == static_cast<int>(hipDeviceAttributeMultiprocessorCount));
static_assert(hip::kSharedBytesPerBlock == static_cast<int>(hipDeviceAttributeMaxSharedMemoryPerBlock));
static_assert(hip::kLanes == static_cast<int>(hipDeviceAttributeWarpSize));
static_assert(hip::kMemoryType == static_cast<int>(HIP_POINTER_ATTRIBUTE_MEMORY_TYPE));
static_assert(hip::kDeviceOrdinal == static_cast<int>(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(hip::kOnDevice == static_cast<int>(hipMemoryTypeDevice));
static_assert(hip::kNonBlocking == hipStreamNonBlocking);
static_assert(hip::kDisableTiming == hipEventDisableTiming);
static_assert(hip::kCaptureThisThreadOnly == static_cast<int>(hipStreamCaptureModeThreadLocal));
static_assert(hip::kMemoryError == static_cast<int>(hipErrorECCNotCorrectable));
static_assert(hip::kIllegalAddress == static_cast<int>(hipErrorIllegalAddress));
static_assert(hip::kTimeout == static_cast<int>(hipErrorLaunchTimeOut));
static_assert(hip::kAssert == static_cast<int>(hipErrorAssert));
static_assert(hip::kLaunchFailure == static_cast<int>(hipErrorLaunchFailure));
static_assert(hip::kNotSupported == static_cast<int>(hipErrorNotSupported));
static_assert(hip::kUnknown == static_cast<int>(hipErrorUnknown));
static_assert(sizeof(hipDeviceProp_t) <= hip::kPropertiesBytes);
// Where the stand-in of the tests writes it; we look for it.
static_assert(HIP_VERSION >= 70000000 || offsetof(hipDeviceProp_t, gcnArchName) == 1160);

TEST(HipHeaders, AgreeWithWhatIsDeclaredByHand) { SUCCEED() << "it compiled, for HIP_VERSION " << HIP_VERSION; }

#else

TEST(HipHeaders, AgreeWithWhatIsDeclaredByHand) {
  GTEST_SKIP()
      << "no <hip/hip_runtime_api.h> of ROCm 6 or later where this was compiled; RUNG_HIP_HEADERS names a folder";
}

#endif

}  // namespace
}  // namespace rung::gpu
