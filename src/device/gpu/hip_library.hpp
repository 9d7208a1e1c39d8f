// The HIP runtime as its library exports it, ROCm 6 and 7: the functions and numbers that this project uses, from the
// HIP runtime API reference. Its headers are not needed to build; if they are there, a test compares.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <type_traits>

#include "device/gpu/runtime.hpp"

namespace rung::gpu {

struct HipLibrary {
#define RUNG_HIP_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "device/gpu/hip_functions.inc"
#undef RUNG_HIP_FUNCTION
};

// Numbers of the reference, grouped by their enumeration or macros there.
namespace hip {

enum DeviceAttribute {  // hipDeviceAttribute_t
  kCooperative = 10,
  kL2Bytes = 19,
  kMultiprocessors = 63,
  kSharedBytesPerBlock = 74,
  kLanes = 87,
};
enum PointerAttribute { kMemoryType = 2, kDeviceOrdinal = 9 };  // hipPointer_attribute
enum MemoryType { kOnDevice = 2 };                              // hipMemoryType
enum StreamFlag : unsigned { kNonBlocking = 1 };                // does not wait for the default stream
enum EventFlag : unsigned { kDisableTiming = 2 };               // for order alone
enum CaptureMode { kCaptureThisThreadOnly = 1 };                // hipStreamCaptureMode: thread-local
enum Code {                                                     // hipError_t
  kMemoryError = 214,
  kIllegalAddress = 700,
  kTimeout = 702,
  kAssert = 710,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kUnknown = 999,
};

// The size of hipDeviceProp_t for hipGetDevicePropertiesR0600(): larger than in any release.
constexpr size_t kPropertiesBytes = 16384;

}  // namespace hip
}  // namespace rung::gpu
