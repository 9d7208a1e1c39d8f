// A libcuda.so.1 without a GPU, for tests of the tool as a process: memory is the host's, and kernels do nothing but
// for the one that copies what is bound to a session. Calls from a thread without a current context are refused, as the
// driver does. RUNG_FAKE_FAULT makes launches fault: those of kernels whose names begin with it, or every graph's if it
// is "graph".
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "kernels/gpu/copy/copy_ranges_arguments.hpp"

namespace {

using Address = uint64_t;
constexpr int kIllegalAddress = 700, kTooManyBytes = 2, kNoContext = 201;
constexpr size_t kMemory = size_t{4} << 30;
bool dead = false, recording = false;
thread_local void* current = nullptr;  // the context of this thread

int alive() { return dead ? kIllegalAddress : current ? 0 : kNoContext; }
int made(void** handle) { return *handle = &dead, alive(); }
bool faults(std::string_view what) {
  const char* wanted = std::getenv("RUNG_FAKE_FAULT");
  return wanted && *wanted && what.starts_with(wanted);
}
void* pointer(Address address) { return reinterpret_cast<void*>(address); }
void copy_ranges(unsigned count, const rung::gpu::CopyRangesArguments& arguments) {
  for (unsigned i = 0; i < count; ++i) {
    const rung::gpu::CopiedRange& range = arguments.ranges[i];
    std::memcpy(pointer(range.to), pointer(range.from), range.bytes);
  }
}

}  // namespace

// The driver's names and arguments are what its library exports; those that only grant need no arguments.
extern "C" {
int cuInit(unsigned) { return 0; }
// NVRTC looks for a driver's tables where there is one, and crashes where the name is missing.
int cuGetExportTable(const void** table, const void*) {
  constexpr int kNotFound = 500;
  return *table = nullptr, kNotFound;
}
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuGetErrorString(int code, const char** text) {
  return *text = code == kIllegalAddress ? "an illegal memory access was encountered" : "no such thing", 0;
}
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, 0; }
int cuDeviceGetName(char* name, int size, int) { return std::strncpy(name, "Fake", static_cast<size_t>(size)), 0; }
int cuDeviceGetPCIBusId(char* id, int size, int) {
  return std::strncpy(id, "0000:01:00.0", static_cast<size_t>(size)), 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kSharedBytes = 97;
  *value = which == kMultiprocessors ? 108 : which == kL2Bytes ? 40 << 20 : which == kMajor ? 8 : 0;
  if (which == kSharedBytes) *value = 160 << 10;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = kMemory, 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &dead, 0; }
int cuCtxSetCurrent(void* context) { return current = context, 0; }
int cuCtxGetCurrent(void** context) { return *context = current, 0; }
int cuCtxGetDevice(int* device) { return *device = 0, alive(); }
int cuDevicePrimaryCtxRelease_v2(int) { return alive(); }
int cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = kMemory, alive(); }
int cuMemAlloc_v2(Address* address, size_t bytes) {
  void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *address = reinterpret_cast<Address>(block), block ? alive() : kTooManyBytes;
}
int cuMemFree_v2(Address address) { return std::free(pointer(address)), alive(); }
int cuMemAllocHost_v2(void** address, size_t bytes) { return *address = std::malloc(bytes), alive(); }
int cuMemFreeHost(void* address) { return std::free(address), alive(); }
int cuPointerGetAttributes(unsigned, int*, void** values, Address) {
  constexpr int kOnDevice = 2;
  return *static_cast<int*>(values[0]) = kOnDevice, *static_cast<int*>(values[1]) = 0, alive();
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void*) {
  return std::memcpy(pointer(to), from, bytes), alive();
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void*) {
  return std::memcpy(to, pointer(from), bytes), alive();
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void*) {
  return std::memcpy(pointer(to), pointer(from), bytes), alive();
}
int cuMemsetD8Async(Address to, unsigned char value, size_t bytes, void*) {
  return std::memset(pointer(to), value, bytes), alive();
}
int cuStreamCreate(void** stream, unsigned) { return made(stream); }
int cuStreamDestroy_v2(void*) { return alive(); }
int cuStreamSynchronize(void*) { return alive(); }
int cuStreamWaitEvent(void*, void*, unsigned) { return alive(); }
int cuEventCreate(void** event, unsigned) { return made(event); }
int cuEventDestroy_v2(void*) { return alive(); }
int cuEventRecord(void*, void*) { return alive(); }
int cuEventSynchronize(void*) { return alive(); }
int cuEventElapsedTime(float* ms, void*, void*) { return *ms = 1, alive(); }
int cuModuleLoadData(void** module, const void*) { return made(module); }
int cuModuleUnload(void*) { return alive(); }
int cuModuleGetFunction(void** function, void*, const char* name) {
  static std::set<std::string> names;  // a function is its name
  return *function = const_cast<char*>(names.insert(name).first->c_str()), alive();
}
int cuFuncSetAttribute(void*, int, int) { return alive(); }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) { return *blocks = 1, alive(); }
int cuTensorMapEncodeTiled() { return alive(); }
// A launch begins with the extents of its grid.
int cuLaunchKernelEx(const unsigned* launch, const char* function, void** parameters, void**) {
  if (int code = alive()) return code;
  if (function == std::string_view("copy_ranges"))
    copy_ranges(launch[1], *static_cast<const rung::gpu::CopyRangesArguments*>(*parameters));
  dead = !recording && faults(function);  // shows in the next call: a launch does not wait for its kernel
  return 0;
}
int cuStreamBeginCapture_v2(void*, int) { return recording = true, alive(); }
int cuStreamEndCapture(void*, void** graph) { return recording = false, made(graph); }
int cuGraphGetNodes(void*, void*, size_t* count) { return *count = 1, alive(); }
int cuGraphInstantiateWithFlags(void** executable, void*, unsigned long long) { return made(executable); }
int cuGraphDestroy(void*) { return alive(); }
int cuGraphExecDestroy(void*) { return alive(); }
int cuGraphLaunch(void*, void*) {
  if (int code = alive()) return code;
  return dead = faults("graph"), 0;
}
}
