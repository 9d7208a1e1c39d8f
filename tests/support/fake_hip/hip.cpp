// A libamdhip64.so.7 without a GPU: what is launched is executed from its machine code by the emulator. Names,
// arguments and numbers are those of the HIP runtime API; what a driver refuses, this refuses, and a fault of memory
// ends the process, as there. RUNG_FAKE_HIP is the name of the architecture, gfx942 if it is not set, RUNG_FAKE_DEVICES
// how many devices there are, one if it is not set, RUNG_FAKE_FAULT what the names of kernels begin with that fault.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "device/gpu/emulated.hpp"
#include "device/gpu/emulated_device.hpp"

namespace {

using rung::gpu::address_of;
using rung::gpu::Runtime;

constexpr int kInvalidValue = 1, kNoDevice = 100, kInvalidDevice = 101, kRecording = 900, kMostDevices = 8;
thread_local int current = 0;         // a thread that has asked for none has device 0
thread_local bool recording = false;  // whose memory stays as it is meanwhile

std::string_view setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}
std::string_view architecture() { return setting("RUNG_FAKE_HIP", "gfx942"); }
// An architecture that is not emulated is only told of: no code object that this build has is for it.
rung::amdgpu::Isa isa() { return rung::amdgpu::isa_named(architecture()).value_or(rung::amdgpu::Isa::gfx942); }
int devices() { return std::atoi(setting("RUNG_FAKE_DEVICES", "1").data()); }

void* context_of_this_thread() {
  static std::mutex mutex;
  static std::array<void*, kMostDevices> contexts{};
  std::lock_guard lock(mutex);
  void*& context = contexts[static_cast<size_t>(current)];
  if (!context) rung::gpu::emulated_runtime(isa()).context_create(&context, current);
  return context;
}

const Runtime& started() {
  const Runtime& table = rung::gpu::emulated_runtime(isa());
  table.context_use(context_of_this_thread());
  return table;
}
rung::gpu::EmulatedDevice& device() { return *static_cast<rung::gpu::EmulatedDevice*>(context_of_this_thread()); }

[[noreturn]] void end(const char* why) {
  std::fprintf(stderr, "Memory access fault by GPU node-1: %s\n", why);
  std::abort();
}
int or_end(int code) {
  if (code != 0 && started().is_fault(code)) end(started().error_text(code));
  return code;
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
const char* hipGetErrorString(int code) {
  return code == kInvalidDevice ? "invalid device ordinal"
         : code == kNoDevice    ? "no ROCm-capable device is detected"
         : code == kRecording   ? "operation not permitted when stream is capturing"
                                : started().error_text(code);
}
int hipGetDeviceCount(int* count) { return *count = devices(), *count > 0 ? 0 : kNoDevice; }
int hipSetDevice(int wanted) {
  if (wanted < 0 || wanted >= devices() || wanted >= kMostDevices) return kInvalidDevice;
  return current = wanted, 0;
}
int hipGetDevice(int* now) { return *now = current, 0; }
int hipDeviceGetName(char* name, int size, int) {
  return std::strncpy(name, "Emulated Instinct", static_cast<size_t>(size)), 0;
}
int hipDeviceGetPCIBusId(char* id, int size, int which) {
  return std::snprintf(id, static_cast<size_t>(size), "0000:%02x:00.0", which + 2), 0;
}
int hipDeviceGetAttribute(int* value, int which, int) {
  constexpr int kL2Bytes = 19, kMultiprocessors = 63, kSharedBytesPerBlock = 74, kLanes = 87;
  const auto& facts = rung::amdgpu::info_of(isa());
  *value = which == kL2Bytes               ? 1 << 12
           : which == kMultiprocessors     ? static_cast<int>(facts.compute_units)
           : which == kSharedBytesPerBlock ? static_cast<int>(facts.lds_bytes)
           : which == kLanes               ? rung::amdgpu::kWaveLanes
                                           : 0;
  return 0;
}
int hipGetDevicePropertiesR0600(void* properties, int) {
  auto& to = *static_cast<Properties*>(properties);
  std::strcpy(to.name, "Emulated Instinct");
  std::snprintf(to.architecture, sizeof to.architecture, "%s:sramecc+:xnack-", architecture().data());
  return 0;
}
int hipDeviceTotalMem(size_t* bytes, int) { return *bytes = size_t{1} << 30, 0; }  // what copies a share of it is quick
int hipMemGetInfo(size_t* free, size_t* total) { return started().memory_info(free, total); }
int hipMalloc(void** pointer, size_t bytes) {
  if (recording) return kRecording;
  rung::gpu::Address address = 0;
  const int code = started().allocate(&address, bytes);
  return *pointer = rung::gpu::device_pointer(address), code;
}
int hipFree(void* pointer) {
  if (recording) return kRecording;
  return pointer ? started().release(address_of(pointer)) : 0;
}
int hipHostMalloc(void** pointer, size_t bytes, unsigned) { return started().allocate_pinned(pointer, bytes); }
int hipHostFree(void* pointer) { return started().release_pinned(pointer); }
int hipDrvPointerGetAttributes(unsigned count, int* attributes, void** values, void* pointer) {
  constexpr int kMemoryType = 2, kDeviceOrdinal = 9, kHost = 1, kDevice = 2;
  const rung::amdgpu::Region* region = device().memory().find(address_of(pointer), 1);
  for (unsigned i = 0; i < count; ++i) {
    int& value = *static_cast<int*>(values[i]);
    if (attributes[i] == kMemoryType) value = !region ? 0 : region->written ? kDevice : kHost;
    if (attributes[i] == kDeviceOrdinal) value = region ? current : 0;
  }
  return 0;
}
int hipMemcpyHtoDAsync(void* to, void* from, size_t bytes, void* stream) {
  return or_end(started().upload(address_of(to), from, bytes, stream));
}
int hipMemcpyDtoHAsync(void* to, void* from, size_t bytes, void* stream) {
  return or_end(started().download(to, address_of(from), bytes, stream));
}
int hipMemcpyDtoDAsync(void* to, void* from, size_t bytes, void* stream) {
  // A driver knows what it has allocated, and refuses what it has not.
  for (const void* at : {to, from})
    if (!device().memory().find(address_of(at), bytes)) return kInvalidValue;
  return or_end(started().copy(address_of(to), address_of(from), bytes, stream));
}
int hipMemsetD8Async(void* to, unsigned char value, size_t bytes, void* stream) {
  return or_end(started().fill(address_of(to), value, bytes, stream));
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
  const std::string_view faulting = setting("RUNG_FAKE_FAULT", "");
  const auto& kernel = *static_cast<rung::gpu::EmulatedFunction*>(function)->kernel;
  if (!faulting.empty() && kernel.name.starts_with(faulting)) end("as it was told to");
  const rung::gpu::Launch shape{
      .grid = {gx, gy, gz}, .block = {bx, by, bz}, .cluster = {}, .shared_bytes = shared_bytes};
  return or_end(started().launch(function, shape, parameters, stream));
}
int hipModuleLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                                     void**) {
  return kInvalidValue;
}
// No function of AMD's: for the libraries beside this one, whose work is said to take that many instructions.
int hipLaunchHostFuncTaking(void* stream, void (*function)(void*), void* data, uint64_t instructions) {
  started();
  return device().put(*device().stream_of(stream), rung::gpu::EmulatedHostCall{function, data, instructions})
             ? 0
             : kInvalidValue;
}
int hipLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return hipLaunchHostFuncTaking(stream, function, data, 0);
}
int hipStreamBeginCapture(void* stream, int mode) {
  const int code = mode == 1 ? started().capture_begin(stream) : kInvalidValue;
  return recording = recording || code == 0, code;
}
int hipStreamEndCapture(void* stream, void** graph) {
  recording = false;
  return started().capture_end(stream, graph);
}
int hipGraphGetNodes(void* graph, void* nodes, size_t* count) {
  return nodes ? kInvalidValue : started().graph_nodes(graph, count);
}
int hipGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return flags == 0 ? started().graph_instantiate(executable, graph) : kInvalidValue;
}
int hipGraphDestroy(void* graph) { return started().graph_destroy(graph); }
int hipGraphExecDestroy(void* executable) { return started().executable_destroy(executable); }
int hipGraphLaunch(void* executable, void* stream) { return or_end(started().graph_launch(executable, stream)); }
}
