// rocprof-sys used other words with roctracer ("rocm_hip", "device_hip"): they come after the new ones.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_categories.hpp"

namespace rung::trace {
namespace {

using enum PerfettoTool;
using enum PerfettoMeaning;

constexpr std::string_view kHsa = "calls of HSA: HIP's, above them, are kept";
constexpr std::string_view kLibraries = "calls of other libraries";
constexpr std::string_view kAllocations = "allocations that the device's driver made";
constexpr std::string_view kSamples = "samples";

constexpr PerfettoCategory kCategories[] = {
    {"kernel_dispatch", rocprofv3, kernel, {}},
    {"memory_copy", rocprofv3, copy, {}},
    {"hip_api", rocprofv3, call, {}},
    {"hsa_api", rocprofv3, hsa_call, kHsa},
    {"marker_api", rocprofv3, range, {}},
    {"rccl_api", rocprofv3, operation, {}},
    {"rocdecode_api", rocprofv3, left_out, kLibraries},
    {"rocjpeg_api", rocprofv3, left_out, kLibraries},
    {"hipfile_api", rocprofv3, left_out, kLibraries},
    {"scratch_memory", rocprofv3, left_out, kAllocations},
    {"memory_allocation", rocprofv3, left_out, kAllocations},
    {"rocm_kernel_dispatch", rocprof_sys, kernel, {}},
    {"rocm_memory_copy", rocprof_sys, copy, {}},
    {"rocm_hip_stream", rocprof_sys, device, {}},
    {"rocm_hip_api", rocprof_sys, call, {}},
    {"rocm_hsa_api", rocprof_sys, hsa_call, kHsa},
    {"rocm_marker_api", rocprof_sys, range, {}},
    {"rocm_rccl_api", rocprof_sys, operation, {}},
    {"rocm_scratch_memory", rocprof_sys, left_out, kAllocations},
    {"rocm_memory_allocate", rocprof_sys, left_out, kAllocations},
    {"rocm_rocdecode_api", rocprof_sys, left_out, kLibraries},
    {"rocm_rocjpeg_api", rocprof_sys, left_out, kLibraries},
    {"rocm_hipfile_api", rocprof_sys, left_out, kLibraries},
    {"rocm_rocshmem_api", rocprof_sys, left_out, kLibraries},
    {"rocm_ompt_api", rocprof_sys, left_out, kLibraries},
    {"user", rocprof_sys, range, {}},
    {"host", rocprof_sys, left_out, "functions of the program"},
    {"python", rocprof_sys, left_out, "functions of Python"},
    {"pthread", rocprof_sys, left_out, kLibraries},
    {"mpi", rocprof_sys, left_out, kLibraries},
    {"kokkos", rocprof_sys, left_out, kLibraries},
    {"ompt", rocprof_sys, left_out, kLibraries},
    {"timer_sampling", rocprof_sys, left_out, kSamples},
    {"overflow_sampling", rocprof_sys, left_out, kSamples},
    {"device_hip", rocprof_sys, device, {}},
    {"device_hsa", rocprof_sys, left_out, "work that HIP's events tell too"},
    {"rocm_hip", rocprof_sys, call, {}},
    {"rocm_hsa", rocprof_sys, hsa_call, kHsa},
    {"rocm_roctx", rocprof_sys, range, {}},
    {"rccl", rocprof_sys, operation, {}},
};

}  // namespace

const PerfettoCategory* perfetto_category(std::string_view name) {
  for (const PerfettoCategory& category : kCategories)
    if (category.name == name) return &category;
  return nullptr;
}

}  // namespace rung::trace
