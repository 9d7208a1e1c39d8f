// Opens the HIP runtime library at run time and fills the runtime table from it.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/forks.hpp"
#include "device/gpu/hip_library.hpp"
#include "device/gpu/hipblaslt.hpp"
#include "device/gpu/rocblas.hpp"
#include "device/shared_library.hpp"

namespace rung::gpu {
namespace {

HipLibrary driver;

const char* error_text(int code) { return driver.hipGetErrorString(code); }

// Returns whether a fault of memory or of a kernel gives the code, if it does not end the process at once.
bool is_fault(int code) {
  for (int fault :
       {hip::kMemoryError, hip::kIllegalAddress, hip::kTimeout, hip::kAssert, hip::kLaunchFailure, hip::kUnknown})
    if (code == fault) return true;
  return false;
}

// Returns the gfx number, 0x942 from "gfx942:sramecc+:xnack-". The name's place in its struct differs between releases
// (hipDeviceProp_t::gcnArchName), so the text is searched: no other member holds text that begins so, except the
// device's own name if the driver knows no better, which is the same.
int architecture_in(std::string_view properties) {
  constexpr std::string_view kPrefix = "gfx";
  for (size_t at = properties.find(kPrefix); at != properties.npos; at = properties.find(kPrefix, at + 1)) {
    int number = 0;
    const char* digits = properties.data() + at + kPrefix.size();
    const auto [end, error] = std::from_chars(digits, properties.data() + properties.size(), number, 16);
    const bool ends = end != properties.data() + properties.size() && (*end == '\0' || *end == ':');
    if (error == std::errc() && end > digits && ends) return number;
  }
  return 0;
}

int describe(int device, GpuInfo* info) {
  std::array<char, 256> name{}, bus_address{};
  std::array<char, hip::kPropertiesBytes> properties{};
  if (int code = driver.hipDeviceGetName(name.data(), name.size(), device)) return code;
  if (int code = driver.hipDeviceGetPCIBusId(bus_address.data(), bus_address.size(), device)) return code;
  if (int code = driver.hipGetDevicePropertiesR0600(properties.data(), device)) return code;
  if (int code = driver.hipDeviceTotalMem(&info->memory_bytes, device)) return code;
  auto attribute = [&](hip::DeviceAttribute which) {
    int value = 0;
    driver.hipDeviceGetAttribute(&value, which, device);
    return value;
  };
  info->name = name.data();
  info->bus_address = bus_address.data();
  info->runtime = "hip";
  info->architecture = architecture_in({properties.data(), properties.size()});
  info->multiprocessors = attribute(hip::kMultiprocessors);
  info->lanes = attribute(hip::kLanes);
  info->shared_bytes_per_block = static_cast<size_t>(attribute(hip::kSharedBytesPerBlock));
  info->l2_bytes = static_cast<size_t>(attribute(hip::kL2Bytes));
  info->cooperative = attribute(hip::kCooperative) != 0;
  return driver.hipDriverGetVersion(&info->driver_version);
}

// A context stands for a device: the runtime has one for each, which libraries of the process share, and a thread that
// asked for none has device 0. As null is no context, the devices' numbers are counted from 1.
Context context_of(int device) { return std::bit_cast<Context>(uintptr_t(device) + 1); }
int context_create(Context* context, int device) {
  size_t free = 0, total = 0;
  *context = context_of(device);
  if (int code = driver.hipSetDevice(device)) return code;
  return driver.hipMemGetInfo(&free, &total);  // starts the device
}
int context_destroy(Context) { return 0; }
int context_use(Context context) {
  return context ? driver.hipSetDevice(static_cast<int>(std::bit_cast<uintptr_t>(context) - 1)) : 0;
}
int context_current(Context* context) {
  int device = 0;
  const int code = driver.hipGetDevice(&device);
  return *context = context_of(device), code;
}

int allocate(Address* address, size_t bytes) {
  void* pointer = nullptr;
  const int code = driver.hipMalloc(&pointer, bytes);
  return *address = address_of(pointer), code;
}
int release(Address address) { return driver.hipFree(device_pointer(address)); }
int allocate_pinned(void** address, size_t bytes) { return driver.hipHostMalloc(address, bytes, 0); }

// An address that the runtime does not know has zeros for attributes, and that is no error.
int reaches(bool* answer, Address address) {
  int device = 0, type = 0, ordinal = -1;
  int attributes[] = {hip::kMemoryType, hip::kDeviceOrdinal};
  void* values[] = {&type, &ordinal};
  if (int code = driver.hipGetDevice(&device)) return code;
  if (int code = driver.hipDrvPointerGetAttributes(2, attributes, values, device_pointer(address))) return code;
  return *answer = type == hip::kOnDevice && ordinal == device, 0;
}

int upload(Address to, const void* from, size_t bytes, Stream stream) {
  return driver.hipMemcpyHtoDAsync(device_pointer(to), const_cast<void*>(from), bytes, stream);
}
int download(void* to, Address from, size_t bytes, Stream stream) {
  return driver.hipMemcpyDtoHAsync(to, device_pointer(from), bytes, stream);
}
int copy(Address to, Address from, size_t bytes, Stream stream) {
  return driver.hipMemcpyDtoDAsync(device_pointer(to), device_pointer(from), bytes, stream);
}
int fill(Address to, uint8_t value, size_t bytes, Stream stream) {
  return driver.hipMemsetD8Async(device_pointer(to), value, bytes, stream);
}

int stream_create(Stream* stream) { return driver.hipStreamCreateWithFlags(stream, hip::kNonBlocking); }
int stream_wait(Stream stream, Event event) { return driver.hipStreamWaitEvent(stream, event, 0); }
int event_create(Event* event) { return driver.hipEventCreateWithFlags(event, 0); }
int event_create_untimed(Event* event) { return driver.hipEventCreateWithFlags(event, hip::kDisableTiming); }

// A launch may ask for all of a compute unit's LDS.
int allow_shared_bytes(Function, size_t) { return 0; }

int launch(Function function, const Launch& shape, void** parameters, Stream stream) {
  const auto& [grid, block] = std::pair(shape.grid, shape.block);
  if (shape.cooperative)
    return driver.hipModuleLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                   shape.shared_bytes, stream, parameters);
  return driver.hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shape.shared_bytes,
                                      stream, parameters, nullptr);
}

// Only Hopper has these; no row asks for them unless GpuInfo::clusters is set.
int tile_map(TileMap*, const TileShape&) { return hip::kNotSupported; }
int tensor_map(TensorMap*, const BoxedMatrix&) { return hip::kNotSupported; }

int capture_begin(Stream stream) { return driver.hipStreamBeginCapture(stream, hip::kCaptureThisThreadOnly); }
int graph_nodes(Graph graph, size_t* count) { return driver.hipGraphGetNodes(graph, nullptr, count); }
int graph_instantiate(ExecutableGraph* executable, Graph graph) {
  return driver.hipGraphInstantiateWithFlags(executable, graph, 0);
}

Result<void*> open_library() {
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return no_device("no HIP runtime: {}", dlerror());
}

Status load_driver() {
  RUNG_TRY(void* library, open_library());
#define RUNG_HIP_FUNCTION(name, ...) RUNG_CHECK(find_function(library, "the HIP runtime", #name, driver.name));
#include "device/gpu/hip_functions.inc"
#undef RUNG_HIP_FUNCTION
  if (int code = driver.hipInit(0)) return no_device("the HIP runtime cannot start: {} ({})", error_text(code), code);
  int count = 0;
  if (driver.hipGetDeviceCount(&count) != 0 || count == 0) return no_device("the HIP runtime sees no device");
  return {};
}

constexpr GemmLibraryOpener kGemmLibraries[] = {hipblaslt, rocblas};

Runtime make_table() {
  return {.name = "hip",
          .error_text = error_text,
          .is_fault = is_fault,
          .device_count = driver.hipGetDeviceCount,
          .describe = describe,
          .sensors = nullptr,
          .gemm_libraries = kGemmLibraries,
          .context_create = context_create,
          .context_destroy = context_destroy,
          .context_use = context_use,
          .context_current = context_current,
          .memory_info = driver.hipMemGetInfo,
          .allocate = allocate,
          .release = release,
          .allocate_pinned = allocate_pinned,
          .release_pinned = driver.hipHostFree,
          .reaches = reaches,
          .upload = upload,
          .download = download,
          .copy = copy,
          .fill = fill,
          .stream_create = stream_create,
          .stream_destroy = driver.hipStreamDestroy,
          .stream_synchronize = driver.hipStreamSynchronize,
          .stream_wait = stream_wait,
          .event_create = event_create,
          .event_create_untimed = event_create_untimed,
          .event_destroy = driver.hipEventDestroy,
          .event_record = driver.hipEventRecord,
          .event_synchronize = driver.hipEventSynchronize,
          .event_elapsed_ms = driver.hipEventElapsedTime,
          .module_load = driver.hipModuleLoadData,
          .module_unload = driver.hipModuleUnload,
          .module_function = driver.hipModuleGetFunction,
          .allow_shared_bytes = allow_shared_bytes,
          .blocks_per_multiprocessor = driver.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
          .tile_map = tile_map,
          .launch = launch,
          .tensor_map = tensor_map,
          .capture_begin = capture_begin,
          .capture_end = driver.hipStreamEndCapture,
          .graph_nodes = graph_nodes,
          .graph_instantiate = graph_instantiate,
          .graph_destroy = driver.hipGraphDestroy,
          .executable_destroy = driver.hipGraphExecDestroy,
          .graph_launch = driver.hipGraphLaunch};
}

}  // namespace

Result<const Runtime*> hip_runtime() {
  static const Status loaded = load_driver();
  if (!loaded) return tl::unexpected(loaded.error());
  static const MadeIn made_in;
  if (made_in.another_process())
    return no_device(
        "the HIP runtime was started before this process was forked, and works in none that is forked later: fork "
        "first, or start the child as a program of its own");
  static const Runtime table = make_table();
  return &table;
}

}  // namespace rung::gpu
