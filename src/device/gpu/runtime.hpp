// The functions of a GPU runtime that this project calls, as a table in our own words: `cuda` fills it from the driver
// library, opened at run time, so that one binary runs on machines with no driver. Every function returns 0 or the
// runtime's error code, which error_text() names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "device/gpu/gpu_info.hpp"
#include "device/gpu/sensors.hpp"
#include "device/gpu/tensor_map.hpp"
#include "device/gpu/tile_map.hpp"

namespace rung::gpu {

using Address = uint64_t;  // of device memory
// Converts an address to the form that kernels and libraries take; the host must not read through it.
inline void* device_pointer(Address address) { return std::bit_cast<void*>(address); }
inline Address address_of(const void* device_pointer) { return std::bit_cast<Address>(device_pointer); }
using Context = void*;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
using Graph = void*;            // a captured run
using ExecutableGraph = void*;  // ready to launch

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

// One kernel launch. `parameters` is the runtime's usual array of pointers to each argument.
struct Launch {
  Extent grid, block, cluster;
  uint32_t shared_bytes = 0;
  bool dependent = false;    // may start before the launch in front of it has ended, and waits inside
  bool cooperative = false;  // all blocks are resident at once
};

struct GemmLibrary;  // gemm_library.hpp
// Errors: the library cannot be opened, or lacks a function.
using GemmLibraryOpener = Result<const GemmLibrary*> (*)();

struct Runtime {
  const char* name;  // "cuda", "emu"
  const char* (*error_text)(int code);
  bool (*is_fault)(int code);  // work on the device failed, and every later call of this process will fail
  int (*device_count)(int* count);
  int (*describe)(int device, GpuInfo* info);
  Result<const Sensors*> (*sensors)();                // for all its devices; null: it has none
  std::span<const GemmLibraryOpener> gemm_libraries;  // the vendor's libraries, the preferred one first

  int (*context_create)(Context* context, int device);
  int (*context_destroy)(Context context);
  int (*context_use)(Context context);       // for this thread
  int (*context_current)(Context* context);  // this thread's; null: none

  int (*memory_info)(size_t* free, size_t* total);
  int (*allocate)(Address* address, size_t bytes);
  int (*release)(Address address);
  int (*allocate_pinned)(void** address, size_t bytes);
  int (*release_pinned)(void* address);
  // Returns whether the current context's kernels reach this address as their device's own memory. Null: unknown.
  int (*reaches)(bool* answer, Address address);
  int (*upload)(Address to, const void* from, size_t bytes, Stream stream);  // ordered in the stream
  int (*download)(void* to, Address from, size_t bytes, Stream stream);
  int (*copy)(Address to, Address from, size_t bytes, Stream stream);
  int (*fill)(Address to, uint8_t value, size_t bytes, Stream stream);

  int (*stream_create)(Stream* stream);
  int (*stream_destroy)(Stream stream);
  int (*stream_synchronize)(Stream stream);
  int (*stream_wait)(Stream stream, Event event);  // later work of the stream waits for the event's earlier work
  int (*event_create)(Event* event);
  int (*event_create_untimed)(Event* event);  // for order alone
  int (*event_destroy)(Event event);
  int (*event_record)(Event event, Stream stream);
  int (*event_synchronize)(Event event);                     // an event that was never recorded is over
  int (*event_elapsed_ms)(float* ms, Event from, Event to);  // both recorded and over

  int (*module_load)(Module* module, const void* image);
  int (*module_unload)(Module module);
  int (*module_function)(Function* function, Module module, const char* name);
  int (*allow_shared_bytes)(Function function, size_t bytes);  // above the default limit
  int (*blocks_per_multiprocessor)(int* blocks, Function function, int threads, size_t shared_bytes);
  int (*tile_map)(TileMap* map, const TileShape& shape);
  int (*launch)(Function function, const Launch& launch, void** parameters, Stream stream);
  int (*tensor_map)(TensorMap* map, const BoxedMatrix& matrix);  // only if GpuInfo::clusters is set

  int (*capture_begin)(Stream stream);  // captures this thread's launches; other threads go on freely
  int (*capture_end)(Stream stream, Graph* graph);
  int (*graph_nodes)(Graph graph, size_t* count);
  int (*graph_instantiate)(ExecutableGraph* executable, Graph graph);
  int (*graph_destroy)(Graph graph);
  int (*executable_destroy)(ExecutableGraph executable);
  int (*graph_launch)(ExecutableGraph executable, Stream stream);
};

// Returns the driver's table. Errors: no driver library (named), a driver too old (the function that it lacks), no
// device; ErrorKind::device in a process that was forked after the driver was started.
Result<const Runtime*> cuda_runtime();
// Returns the HIP runtime's table, with the same errors.
Result<const Runtime*> hip_runtime();

}  // namespace rung::gpu
