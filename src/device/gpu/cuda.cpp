// Opens the CUDA driver library at run time and fills the runtime table from it. Names, numbers and layouts are those
// of the CUDA driver API reference; its header is not needed to build.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstring>

#include "base/forks.hpp"
#include "device/gpu/cublaslt.hpp"
#include "device/gpu/runtime.hpp"
#include "device/shared_library.hpp"

namespace rung::gpu {
namespace {

// Attributes of devices, functions and addresses that we ask for (CUdevice_attribute, ...).
enum DeviceAttribute {
  kMultiprocessors = 16,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kCooperative = 95,
  kSharedBytesPerBlock = 97,
  kClusters = 120
};
enum PointerAttribute { kMemoryType = 2, kDeviceOrdinal = 9 };
enum FunctionAttribute { kMaxDynamicShared = 8, kSharedCarveout = 9, kLargeClusters = 14 };
enum TileOption { kUint16 = 1, kSwizzle128Bytes = 3, kPromotion256Bytes = 3 };  // CUtensorMap...
enum LaunchAttributeId { kCooperativeLaunch = 2, kClusterDimension = 4, kProgrammaticSerialization = 6 };

struct LaunchAttribute {
  int id = 0, pad = 0;
  union {
    char bytes[64];
    unsigned cluster[3];
    int flag;
  } value = {};
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// The driver's entry points, by their exported names.
struct Driver {
  int (*cuInit)(unsigned);
  int (*cuDriverGetVersion)(int*);
  int (*cuGetErrorString)(int, const char**);
  int (*cuDeviceGetCount)(int*);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetName)(char*, int, int);
  int (*cuDeviceGetPCIBusId)(char*, int, int);
  int (*cuDeviceGetAttribute)(int*, int, int);
  int (*cuDeviceTotalMem_v2)(size_t*, int);
  int (*cuDevicePrimaryCtxRetain)(Context*, int);
  int (*cuCtxSetCurrent)(Context);
  int (*cuCtxGetCurrent)(Context*);
  int (*cuCtxGetDevice)(int*);
  int (*cuDevicePrimaryCtxRelease_v2)(int);
  int (*cuMemGetInfo_v2)(size_t*, size_t*);
  int (*cuMemAlloc_v2)(Address*, size_t);
  int (*cuMemFree_v2)(Address);
  int (*cuMemAllocHost_v2)(void**, size_t);
  int (*cuMemFreeHost)(void*);
  int (*cuPointerGetAttributes)(unsigned, int*, void**, Address);
  int (*cuMemcpyHtoDAsync_v2)(Address, const void*, size_t, Stream);
  int (*cuMemcpyDtoHAsync_v2)(void*, Address, size_t, Stream);
  int (*cuMemcpyDtoDAsync_v2)(Address, Address, size_t, Stream);
  int (*cuMemsetD8Async)(Address, unsigned char, size_t, Stream);
  int (*cuStreamCreate)(Stream*, unsigned);
  int (*cuStreamDestroy_v2)(Stream);
  int (*cuStreamSynchronize)(Stream);
  int (*cuStreamWaitEvent)(Stream, Event, unsigned);
  int (*cuEventCreate)(Event*, unsigned);
  int (*cuEventDestroy_v2)(Event);
  int (*cuEventRecord)(Event, Stream);
  int (*cuEventSynchronize)(Event);
  int (*cuEventElapsedTime)(float*, Event, Event);
  int (*cuModuleLoadData)(Module*, const void*);
  int (*cuModuleUnload)(Module);
  int (*cuModuleGetFunction)(Function*, Module, const char*);
  int (*cuFuncSetAttribute)(Function, int, int);
  int (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int*, Function, int, size_t);
  int (*cuTensorMapEncodeTiled)(void* map, int type, unsigned rank, Address, const uint64_t* size,
                                const uint64_t* stride, const uint32_t* box, const uint32_t* step, int interleave,
                                int swizzle, int promotion, int fill);
  int (*cuLaunchKernelEx)(const LaunchConfig*, Function, void**, void**);
  int (*cuStreamBeginCapture_v2)(Stream, int);
  int (*cuStreamEndCapture)(Stream, Graph*);
  int (*cuGraphGetNodes)(Graph, void* nodes, size_t*);
  int (*cuGraphInstantiateWithFlags)(ExecutableGraph*, Graph, unsigned long long);
  int (*cuGraphDestroy)(Graph);
  int (*cuGraphExecDestroy)(ExecutableGraph);
  int (*cuGraphLaunch)(ExecutableGraph, Stream);
};
Driver driver;

const char* error_text(int code) {
  const char* text = nullptr;
  return driver.cuGetErrorString(code, &text) == 0 && text ? text : "unknown error";
}

// Returns whether, by the reference, "the process must be terminated and relaunched", or memory is uncorrectable.
bool is_fault(int code) {
  constexpr int kMemoryError = 214, kLinkError = 220, kContained = 226, kIllegalAddress = 700, kTimeout = 702,
                kAssert = 710, kFirstException = 714, kLastException = 719;
  for (int fault : {kMemoryError, kLinkError, kContained, kIllegalAddress, kTimeout, kAssert})
    if (code == fault) return true;
  return code >= kFirstException && code <= kLastException;
}

int describe(int index, GpuInfo* info) {
  int device = 0;
  char name[128] = {}, bus_address[32] = {};
  if (int code = driver.cuDeviceGet(&device, index)) return code;
  if (int code = driver.cuDeviceGetName(name, sizeof name, device)) return code;
  if (int code = driver.cuDeviceGetPCIBusId(bus_address, sizeof bus_address, device)) return code;
  if (int code = driver.cuDeviceTotalMem_v2(&info->memory_bytes, device)) return code;
  auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    driver.cuDeviceGetAttribute(&value, which, device);
    return value;
  };
  info->name = name;
  info->bus_address = bus_address;
  info->runtime = "cuda";
  info->architecture = attribute(kMajor) * 10 + attribute(kMinor);
  info->multiprocessors = attribute(kMultiprocessors);
  info->shared_bytes_per_block = static_cast<size_t>(attribute(kSharedBytesPerBlock));
  info->l2_bytes = static_cast<size_t>(attribute(kL2Bytes));
  info->cooperative = attribute(kCooperative) != 0;
  info->clusters = attribute(kClusters) != 0;
  info->dependent_launch = info->architecture >= 90;
  return driver.cuDriverGetVersion(&info->driver_version);
}

// The context is the device's primary one, which libraries in the same process use.
int context_create(Context* context, int index) {
  int device = 0;
  if (int code = driver.cuDeviceGet(&device, index)) return code;
  return driver.cuDevicePrimaryCtxRetain(context, device);
}

int context_destroy(Context context) {
  int device = 0;
  if (int code = driver.cuCtxSetCurrent(context)) return code;
  if (int code = driver.cuCtxGetDevice(&device)) return code;
  return driver.cuDevicePrimaryCtxRelease_v2(device);
}

// An address that the driver does not know has no attributes, and that is no error.
int reaches(bool* answer, Address address) {
  constexpr int kOnDevice = 2;  // CU_MEMORYTYPE_DEVICE
  int device = 0, type = 0, ordinal = -1;
  int attributes[] = {kMemoryType, kDeviceOrdinal};
  void* values[] = {&type, &ordinal};
  if (int code = driver.cuCtxGetDevice(&device)) return code;
  if (int code = driver.cuPointerGetAttributes(2, attributes, values, address)) return code;
  return *answer = type == kOnDevice && ordinal == device, 0;
}

int stream_create(Stream* stream) { return driver.cuStreamCreate(stream, 1); }  // does not wait for the default one
int stream_wait(Stream stream, Event event) { return driver.cuStreamWaitEvent(stream, event, 0); }
int event_create(Event* event) { return driver.cuEventCreate(event, 0); }
int event_create_untimed(Event* event) { return driver.cuEventCreate(event, 2); }
// All kernels ask for the same division of a multiprocessor's memory, most of it shared: it is divided again only when
// no block is left there, so that a kernel with another wish would not start beside the one before.
int module_function(Function* function, Module module, const char* name) {
  if (int code = driver.cuModuleGetFunction(function, module, name)) return code;
  return driver.cuFuncSetAttribute(*function, kSharedCarveout, 100);  // percent
}
int allow_shared_bytes(Function function, size_t bytes) {
  return driver.cuFuncSetAttribute(function, kMaxDynamicShared, static_cast<int>(bytes));
}

int tile_map(TileMap* map, const TileShape& shape) {
  constexpr uint32_t every[] = {1, 1, 1, 1, 1};
  return driver.cuTensorMapEncodeTiled(map, kUint16, TileShape::kRank, shape.address, shape.size, shape.stride,
                                       shape.box, every, 0, kSwizzle128Bytes, kPromotion256Bytes, 0);
}

int launch(Function function, const Launch& shape, void** parameters, Stream stream) {
  LaunchAttribute attributes[3];
  LaunchConfig config{{shape.grid.x, shape.grid.y, shape.grid.z},
                      {shape.block.x, shape.block.y, shape.block.z},
                      shape.shared_bytes,
                      stream,
                      attributes,
                      0};
  auto add = [&](LaunchAttributeId id) -> LaunchAttribute& {
    LaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = id;
    return attribute;
  };
  if (shape.dependent) add(kProgrammaticSerialization).value.flag = 1;
  if (shape.cooperative) add(kCooperativeLaunch).value.flag = 1;
  const unsigned cluster_blocks = shape.cluster.x * shape.cluster.y * shape.cluster.z;
  constexpr unsigned kPortableBlocks = 8;  // a function must allow larger clusters
  if (cluster_blocks > kPortableBlocks)
    if (int code = driver.cuFuncSetAttribute(function, kLargeClusters, 1)) return code;
  if (cluster_blocks > 1) {
    unsigned cluster[3] = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
    std::memcpy(add(kClusterDimension).value.cluster, cluster, sizeof cluster);
  }
  return driver.cuLaunchKernelEx(&config, function, parameters, nullptr);
}

int tensor_map(TensorMap* map, const BoxedMatrix& matrix) {
  const uint64_t sizes[] = {matrix.columns, matrix.rows}, pitches[] = {matrix.pitch_bytes};
  const unsigned box[] = {kBoxColumns, matrix.box_rows}, steps[] = {1, 1};
  return driver.cuTensorMapEncodeTiled(map, kUint16, 2, matrix.address, sizes, pitches, box, steps, 0, kSwizzle128Bytes,
                                       kPromotion256Bytes, 0);
}

constexpr int kCaptureThisThreadOnly = 1;
int capture_begin(Stream stream) { return driver.cuStreamBeginCapture_v2(stream, kCaptureThisThreadOnly); }
int graph_nodes(Graph graph, size_t* count) { return driver.cuGraphGetNodes(graph, nullptr, count); }
int graph_instantiate(ExecutableGraph* executable, Graph graph) {
  return driver.cuGraphInstantiateWithFlags(executable, graph, 0);
}

Status load_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return no_device("no CUDA driver: {}", dlerror());
#define RUNG_FIND(name) RUNG_CHECK(find_function(library, "the CUDA driver", #name, driver.name))
  RUNG_FIND(cuInit);
  RUNG_FIND(cuDriverGetVersion);
  RUNG_FIND(cuGetErrorString);
  RUNG_FIND(cuDeviceGetCount);
  RUNG_FIND(cuDeviceGet);
  RUNG_FIND(cuDeviceGetName);
  RUNG_FIND(cuDeviceGetPCIBusId);
  RUNG_FIND(cuDeviceGetAttribute);
  RUNG_FIND(cuDeviceTotalMem_v2);
  RUNG_FIND(cuDevicePrimaryCtxRetain);
  RUNG_FIND(cuCtxSetCurrent);
  RUNG_FIND(cuCtxGetCurrent);
  RUNG_FIND(cuCtxGetDevice);
  RUNG_FIND(cuDevicePrimaryCtxRelease_v2);
  RUNG_FIND(cuMemGetInfo_v2);
  RUNG_FIND(cuMemAlloc_v2);
  RUNG_FIND(cuMemFree_v2);
  RUNG_FIND(cuMemAllocHost_v2);
  RUNG_FIND(cuMemFreeHost);
  RUNG_FIND(cuPointerGetAttributes);
  RUNG_FIND(cuMemcpyHtoDAsync_v2);
  RUNG_FIND(cuMemcpyDtoHAsync_v2);
  RUNG_FIND(cuMemcpyDtoDAsync_v2);
  RUNG_FIND(cuMemsetD8Async);
  RUNG_FIND(cuStreamCreate);
  RUNG_FIND(cuStreamDestroy_v2);
  RUNG_FIND(cuStreamSynchronize);
  RUNG_FIND(cuStreamWaitEvent);
  RUNG_FIND(cuEventCreate);
  RUNG_FIND(cuEventDestroy_v2);
  RUNG_FIND(cuEventRecord);
  RUNG_FIND(cuEventSynchronize);
  RUNG_FIND(cuEventElapsedTime);
  RUNG_FIND(cuModuleLoadData);
  RUNG_FIND(cuModuleUnload);
  RUNG_FIND(cuModuleGetFunction);
  RUNG_FIND(cuFuncSetAttribute);
  RUNG_FIND(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  RUNG_FIND(cuTensorMapEncodeTiled);
  RUNG_FIND(cuLaunchKernelEx);
  RUNG_FIND(cuStreamBeginCapture_v2);
  RUNG_FIND(cuStreamEndCapture);
  RUNG_FIND(cuGraphGetNodes);
  RUNG_FIND(cuGraphInstantiateWithFlags);
  RUNG_FIND(cuGraphDestroy);
  RUNG_FIND(cuGraphExecDestroy);
  RUNG_FIND(cuGraphLaunch);
#undef RUNG_FIND
  if (int code = driver.cuInit(0)) return no_device("the CUDA driver cannot start: {} ({})", error_text(code), code);
  int count = 0;
  if (driver.cuDeviceGetCount(&count) != 0 || count == 0) return no_device("the CUDA driver sees no device");
  return {};
}

constexpr GemmLibraryOpener kGemmLibraries[] = {cublaslt};

Runtime make_table() {
  return {.name = "cuda",
          .error_text = error_text,
          .is_fault = is_fault,
          .device_count = driver.cuDeviceGetCount,
          .describe = describe,
          .sensors = nvml_sensors,
          .gemm_libraries = kGemmLibraries,
          .context_create = context_create,
          .context_destroy = context_destroy,
          .context_use = driver.cuCtxSetCurrent,
          .context_current = driver.cuCtxGetCurrent,
          .memory_info = driver.cuMemGetInfo_v2,
          .allocate = driver.cuMemAlloc_v2,
          .release = driver.cuMemFree_v2,
          .allocate_pinned = driver.cuMemAllocHost_v2,
          .release_pinned = driver.cuMemFreeHost,
          .reaches = reaches,
          .upload = driver.cuMemcpyHtoDAsync_v2,
          .download = driver.cuMemcpyDtoHAsync_v2,
          .copy = driver.cuMemcpyDtoDAsync_v2,
          .fill = driver.cuMemsetD8Async,
          .stream_create = stream_create,
          .stream_destroy = driver.cuStreamDestroy_v2,
          .stream_synchronize = driver.cuStreamSynchronize,
          .stream_wait = stream_wait,
          .event_create = event_create,
          .event_create_untimed = event_create_untimed,
          .event_destroy = driver.cuEventDestroy_v2,
          .event_record = driver.cuEventRecord,
          .event_synchronize = driver.cuEventSynchronize,
          .event_elapsed_ms = driver.cuEventElapsedTime,
          .module_load = driver.cuModuleLoadData,
          .module_unload = driver.cuModuleUnload,
          .module_function = module_function,
          .allow_shared_bytes = allow_shared_bytes,
          .blocks_per_multiprocessor = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor,
          .tile_map = tile_map,
          .launch = launch,
          .tensor_map = tensor_map,
          .capture_begin = capture_begin,
          .capture_end = driver.cuStreamEndCapture,
          .graph_nodes = graph_nodes,
          .graph_instantiate = graph_instantiate,
          .graph_destroy = driver.cuGraphDestroy,
          .executable_destroy = driver.cuGraphExecDestroy,
          .graph_launch = driver.cuGraphLaunch};
}

}  // namespace

Result<const Runtime*> cuda_runtime() {
  static const Status loaded = load_driver();
  if (!loaded) return tl::unexpected(loaded.error());
  static const MadeIn made_in;
  if (made_in.another_process())
    return no_device(
        "the CUDA driver was started before this process was forked, and works in none that is forked later: fork "
        "first, or start the child as a program of its own");
  static const Runtime table = make_table();
  return &table;
}

}  // namespace rung::gpu
