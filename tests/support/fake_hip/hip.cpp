// A libamdhip64.so.7 without a GPU: what is launched is executed from its machine code by the emulator. Names,
// arguments and numbers are those of the HIP runtime API; what a driver refuses, this refuses. RUNG_FAKE_HIP names the
// architecture, gfx942 if it is not set.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "device/gpu/emulated.hpp"

namespace {

using rung::gpu::address_of;
using rung::gpu::Runtime;

constexpr int kInvalidValue = 1, kInvalidDevice = 101;

rung::amdgpu::Target target() {
  const char* name = std::getenv("RUNG_FAKE_HIP");
  return rung::amdgpu::target_named(name ? name : "gfx942").value_or(rung::amdgpu::Target::gfx942);
}
const Runtime& emulated() {
  static const Runtime& table = rung::gpu::emulated_runtime(target());
  return table;
}

// Every thread uses the one device without asking for it, as HIP lets it.
const Runtime& started() {
  static void* const context = [] {
    void* made = nullptr;
    emulated().context_create(&made, 0);
    return made;
  }();
  emulated().context_use(context);
  return emulated();
}

// As ROCm 6.3 lays it out, as far as anyone here asks.
struct Properties {
  char name[256];
  char between[904];
  char architecture[256];  // gcnArchName
};

}  // namespace

extern "C" {
int hipInit(unsigned) { return 0; }
int hipDriverGetVersion(int* version) { return *version = 60300000, 0; }
const char* hipGetErrorString(int code) { return started().error_text(code); }
int hipGetDeviceCount(int* count) { return *count = 1, 0; }
int hipSetDevice(int device) { return device == 0 ? (started(), 0) : kInvalidDevice; }
int hipGetDevice(int* device) { return *device = 0, 0; }
int hipDeviceGetName(char* name, int size, int) {
  return std::strncpy(name, "Emulated Instinct", static_cast<size_t>(size)), 0;
}
int hipDeviceGetPCIBusId(char* id, int size, int) {
  return std::strncpy(id, "0000:02:00.0", static_cast<size_t>(size)), 0;
}
int hipDeviceGetAttribute(int* value, int which, int) {
  constexpr int kL2Bytes = 19, kMultiprocessors = 63, kSharedBytesPerBlock = 74, kLanes = 87;
  const auto& facts = rung::amdgpu::info_of(target());
  *value = which == kL2Bytes               ? 4 << 20
           : which == kMultiprocessors     ? static_cast<int>(facts.compute_units)
           : which == kSharedBytesPerBlock ? static_cast<int>(facts.lds_bytes)
           : which == kLanes               ? rung::amdgpu::kWaveLanes
                                           : 0;
  return 0;
}
int hipGetDevicePropertiesR0600(void* properties, int) {
  auto& to = *static_cast<Properties*>(properties);
  std::strcpy(to.name, "Emulated Instinct");
  std::strcpy(to.architecture, rung::amdgpu::info_of(target()).name.data());
  return std::strcat(to.architecture, ":sramecc+:xnack-"), 0;
}
int hipDeviceTotalMem(size_t* bytes, int) {
  size_t free = 0;
  return started().memory_info(&free, bytes);
}
int hipMemGetInfo(size_t* free, size_t* total) { return started().memory_info(free, total); }
int hipMalloc(void** pointer, size_t bytes) {
  rung::gpu::Address address = 0;
  const int code = started().allocate(&address, bytes);
  return *pointer = rung::gpu::device_pointer(address), code;
}
int hipFree(void* pointer) { return pointer ? started().release(address_of(pointer)) : 0; }
int hipHostMalloc(void** pointer, size_t bytes, unsigned) { return started().allocate_pinned(pointer, bytes); }
int hipHostFree(void* pointer) { return started().release_pinned(pointer); }
int hipMemcpyHtoDAsync(void* to, void* from, size_t bytes, void* stream) {
  return started().upload(address_of(to), from, bytes, stream);
}
int hipMemcpyDtoHAsync(void* to, void* from, size_t bytes, void* stream) {
  return started().download(to, address_of(from), bytes, stream);
}
int hipMemcpyDtoDAsync(void* to, void* from, size_t bytes, void* stream) {
  return started().copy(address_of(to), address_of(from), bytes, stream);
}
int hipMemsetD8Async(void* to, unsigned char value, size_t bytes, void* stream) {
  return started().fill(address_of(to), value, bytes, stream);
}
int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return flags == 1 ? started().stream_create(stream) : kInvalidValue;
}
int hipStreamDestroy(void* stream) { return started().stream_destroy(stream); }
int hipStreamSynchronize(void* stream) { return started().stream_synchronize(stream); }
int hipStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return flags == 0 ? started().stream_wait(stream, event) : kInvalidValue;
}
int hipEventCreateWithFlags(void** event, unsigned flags) {
  return flags == 0   ? started().event_create(event)
         : flags == 2 ? started().event_create_untimed(event)
                      : kInvalidValue;
}
int hipEventDestroy(void* event) { return started().event_destroy(event); }
int hipEventRecord(void* event, void* stream) { return started().event_record(event, stream); }
int hipEventSynchronize(void* event) { return started().event_synchronize(event); }
int hipEventElapsedTime(float* ms, void* from, void* to) { return started().event_elapsed_ms(ms, from, to); }
int hipModuleLoadData(void** module, const void* image) { return started().module_load(module, image); }
int hipModuleUnload(void* module) { return started().module_unload(module); }
int hipModuleGetFunction(void** function, void* module, const char* name) {
  return started().module_function(function, module, name);
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t bytes) {
  return started().blocks_per_multiprocessor(blocks, function, threads, bytes);
}
int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared_bytes, void* stream, void** parameters, void** extra) {
  if (extra) return kInvalidValue;
  const rung::gpu::Launch shape{
      .grid = {gx, gy, gz}, .block = {bx, by, bz}, .cluster = {}, .shared_bytes = shared_bytes};
  return started().launch(function, shape, parameters, stream);
}
int hipModuleLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                                     void**) {
  return kInvalidValue;
}
int hipStreamBeginCapture(void* stream, int mode) {
  return mode == 1 ? started().capture_begin(stream) : kInvalidValue;
}
int hipStreamEndCapture(void* stream, void** graph) { return started().capture_end(stream, graph); }
int hipGraphGetNodes(void* graph, void* nodes, size_t* count) {
  return nodes ? kInvalidValue : started().graph_nodes(graph, count);
}
int hipGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return flags == 0 ? started().graph_instantiate(executable, graph) : kInvalidValue;
}
int hipGraphDestroy(void* graph) { return started().graph_destroy(graph); }
int hipGraphExecDestroy(void* executable) { return started().executable_destroy(executable); }
int hipGraphLaunch(void* executable, void* stream) { return started().graph_launch(executable, stream); }
}
