// The runtime table `emu`: each function finds the calling thread's context, an EmulatedDevice, and lets it work.
// Errors are returned as codes; error_text() has their words.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/emulated.hpp"

#include <elf.h>

#include <cstdlib>
#include <cstring>

#include "device/gpu/emulated_device.hpp"

namespace rung::gpu {
namespace {

enum Code { kDone = 0, kRefused = 1, kNoMemory = 2, kNoContext = 201, kFault = 700 };

thread_local EmulatedDevice* current = nullptr;
thread_local std::string refusal;  // the error of this thread's last refused call

int refuse(const Error& error) {
  if (error.kind == ErrorKind::device_fault) return kFault;
  refusal = error.message;
  return error.kind == ErrorKind::memory ? kNoMemory : kRefused;
}
int refuse(std::string why) { return refuse(Error{std::move(why)}); }

const char* error_text(int code) {
  if (code == kNoContext) return "no device's context is current";
  if (code == kFault) return current && current->fault() ? current->fault()->c_str() : "the device failed";
  return refusal.c_str();
}

bool is_fault(int code) { return code == kFault; }

// Calls work(device) if this thread has one that has not failed; the returned Status or Result becomes a code.
template <class Work>
int on_device(Work work) {
  if (!current) return kNoContext;
  if (current->fault()) return kFault;
  const auto done = work(*current);
  return done ? kDone : refuse(done.error());
}

int put(Stream stream, const EmulatedWork& work) {
  return on_device([&](EmulatedDevice& device) { return device.put(*device.stream_of(stream), work); });
}

int device_count(int* count) { return *count = 1, kDone; }

template <amdgpu::Isa isa>
int describe(int, GpuInfo* info) {
  const amdgpu::IsaInfo& facts = amdgpu::info_of(isa);
  *info = {.name = fmt::format("emulated {}", facts.name),
           .runtime = "emu",
           .bus_address = "",
           .architecture = static_cast<int>(facts.number),
           .multiprocessors = static_cast<int>(facts.compute_units),
           .lanes = amdgpu::kWaveLanes,
           .shared_bytes_per_block = facts.lds_bytes,
           .memory_bytes = amdgpu::Memory::total(),
           .counts_instructions = true};
  return kDone;
}

template <amdgpu::Isa isa>
int context_create(Context* context, int) {
  return *context = new EmulatedDevice(isa), kDone;
}
int context_destroy(Context context) {
  if (current == context) current = nullptr;
  return delete static_cast<EmulatedDevice*>(context), kDone;
}
int context_use(Context context) { return current = static_cast<EmulatedDevice*>(context), kDone; }
int context_current(Context* context) { return *context = current, kDone; }

int memory_info(size_t* free, size_t* total) {
  return on_device([&](EmulatedDevice& device) -> Status {
    *total = amdgpu::Memory::total();
    *free = *total - std::min(*total, device.memory().used());
    return {};
  });
}
int allocate(Address* address, size_t bytes) {
  return on_device([&](EmulatedDevice& device) -> Status {
    RUNG_TRY(*address, device.memory().allocate(bytes));
    return {};
  });
}
// Memory of a failed device may be released, too: nothing could still use it.
int release(Address address) {
  if (!current) return kNoContext;
  return current->memory().release(address) ? kDone : refuse(fmt::format("no allocation begins at 0x{:x}", address));
}
int allocate_pinned(void** address, size_t bytes) {
  return on_device([&](EmulatedDevice& device) -> Status {
    constexpr size_t kPage = 4096;
    *address = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    if (!*address) return no_memory("the system has no {} bytes", bytes);
    device.memory().lend(static_cast<std::byte*>(*address), bytes, true);
    return {};
  });
}
int release_pinned(void* address) {
  if (!current) return kNoContext;
  if (!current->memory().forget(static_cast<std::byte*>(address))) return refuse("no pinned memory begins there");
  return std::free(address), kDone;
}
int upload(Address to, const void* from, size_t bytes, Stream stream) {
  return put(stream, EmulatedCopy{device_pointer(to), from, bytes, true, false});
}
int download(void* to, Address from, size_t bytes, Stream stream) {
  return put(stream, EmulatedCopy{to, device_pointer(from), bytes, false, true});
}
int copy(Address to, Address from, size_t bytes, Stream stream) {
  return put(stream, EmulatedCopy{device_pointer(to), device_pointer(from), bytes, true, true});
}
int fill(Address to, uint8_t value, size_t bytes, Stream stream) { return put(stream, EmulatedFill{to, value, bytes}); }

int stream_create(Stream* stream) {
  return on_device([&](EmulatedDevice&) -> Status { return *stream = new EmulatedStream, Status{}; });
}
int stream_destroy(Stream stream) { return delete static_cast<EmulatedStream*>(stream), kDone; }
// Work is done when it is put, so there is nothing to wait for; a fault is returned all the same.
int stream_synchronize(Stream stream) {
  return on_device([&](EmulatedDevice& device) -> Status {
    if (device.stream_of(stream)->recording) return fail("the stream is being recorded");
    return {};
  });
}
int stream_wait(Stream, Event) {
  return on_device([](EmulatedDevice&) { return Status{}; });
}
int event_create(Event* event) {
  return on_device([&](EmulatedDevice&) -> Status { return *event = new EmulatedEvent, Status{}; });
}
int event_destroy(Event event) { return delete static_cast<EmulatedEvent*>(event), kDone; }
int event_record(Event event, Stream stream) {
  return on_device([&](EmulatedDevice& device) -> Status {
    const EmulatedStream* of = device.stream_of(stream);
    if (!of->recording) *static_cast<EmulatedEvent*>(event) = {of, of->instructions};
    return {};
  });
}
int event_synchronize(Event) {
  return on_device([](EmulatedDevice&) { return Status{}; });
}
int event_elapsed_ms(float* ms, Event from, Event to) {
  return on_device([&](EmulatedDevice&) -> Status {
    const auto& first = *static_cast<EmulatedEvent*>(from);
    const auto& last = *static_cast<EmulatedEvent*>(to);
    if (!first.stream || first.stream != last.stream) return fail("two events that no one stream has recorded");
    *ms = static_cast<float>(static_cast<double>(last.instructions - first.instructions) / kInstructionsPerMs);
    return {};
  });
}

// Returns the bytes of a code object by its header: its table of sections is last.
size_t bytes_of(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + size_t{header.e_shentsize} * header.e_shnum;
}

int module_load(Module* module, const void* image) {
  return on_device([&](EmulatedDevice& device) -> Status {
    if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return bad_file("no code object: it does not begin with 7f 'ELF'");
    RUNG_TRY(auto made, device.load({static_cast<const std::byte*>(image), bytes_of(image)}));
    *module = made.release();
    return {};
  });
}
int module_unload(Module module) { return delete static_cast<EmulatedModule*>(module), kDone; }
int module_function(Function* function, Module module, const char* name) {
  return on_device([&](EmulatedDevice& device) -> Status {
    RUNG_TRY(*function, device.function(*static_cast<EmulatedModule*>(module), name));
    return {};
  });
}
int allow_shared_bytes(Function, size_t bytes) {
  return on_device([&](EmulatedDevice& device) -> Status {
    const uint32_t most = amdgpu::info_of(device.isa()).lds_bytes;
    if (bytes > most) return fail("got {} bytes of LDS, a block has {} at most", bytes, most);
    return {};
  });
}
int blocks_per_multiprocessor(int*, Function, int, size_t) { return refuse("not emulated"); }
int tile_map(TileMap*, const TileShape&) { return refuse("no machine of AMD's has tile maps"); }
int tensor_map(TensorMap*, const BoxedMatrix&) { return refuse("no machine of AMD's has tensor maps"); }

int launch(Function function, const Launch& shape, void** parameters, Stream stream) {
  return on_device([&](EmulatedDevice& device) -> Status {
    RUNG_TRY(auto work, device.prepare(*static_cast<EmulatedFunction*>(function), shape, parameters));
    return device.put(*device.stream_of(stream), work);
  });
}

int capture_begin(Stream stream) {
  return on_device([&](EmulatedDevice& device) -> Status {
    EmulatedStream* of = device.stream_of(stream);
    if (of->recording) return fail("the stream is being recorded already");
    of->recording = std::make_unique<EmulatedGraph>();
    of->recorder = std::this_thread::get_id();
    return {};
  });
}
int capture_end(Stream stream, Graph* graph) {
  return on_device([&](EmulatedDevice& device) -> Status {
    EmulatedStream* of = device.stream_of(stream);
    if (!of->recording || of->recorder != std::this_thread::get_id()) return fail("this thread is not recording it");
    *graph = of->recording.release();
    return {};
  });
}
int graph_nodes(Graph graph, size_t* count) { return *count = static_cast<EmulatedGraph*>(graph)->size(), kDone; }
int graph_instantiate(ExecutableGraph* executable, Graph graph) {
  return *executable = new EmulatedGraph(*static_cast<EmulatedGraph*>(graph)), kDone;
}
int graph_destroy(Graph graph) { return delete static_cast<EmulatedGraph*>(graph), kDone; }
int graph_launch(ExecutableGraph executable, Stream stream) {
  return on_device([&](EmulatedDevice& device) {
    return device.replay(*device.stream_of(stream), *static_cast<EmulatedGraph*>(executable));
  });
}

template <amdgpu::Isa isa>
const Runtime kTable{.name = "emu",
                     .error_text = error_text,
                     .is_fault = is_fault,
                     .device_count = device_count,
                     .describe = describe<isa>,
                     .sensors = nullptr,
                     .gemm_libraries = {},
                     .context_create = context_create<isa>,
                     .context_destroy = context_destroy,
                     .context_use = context_use,
                     .context_current = context_current,
                     .memory_info = memory_info,
                     .allocate = allocate,
                     .release = release,
                     .allocate_pinned = allocate_pinned,
                     .release_pinned = release_pinned,
                     .upload = upload,
                     .download = download,
                     .copy = copy,
                     .fill = fill,
                     .stream_create = stream_create,
                     .stream_destroy = stream_destroy,
                     .stream_synchronize = stream_synchronize,
                     .stream_wait = stream_wait,
                     .event_create = event_create,
                     .event_create_untimed = event_create,
                     .event_destroy = event_destroy,
                     .event_record = event_record,
                     .event_synchronize = event_synchronize,
                     .event_elapsed_ms = event_elapsed_ms,
                     .module_load = module_load,
                     .module_unload = module_unload,
                     .module_function = module_function,
                     .allow_shared_bytes = allow_shared_bytes,
                     .blocks_per_multiprocessor = blocks_per_multiprocessor,
                     .tile_map = tile_map,
                     .launch = launch,
                     .tensor_map = tensor_map,
                     .capture_begin = capture_begin,
                     .capture_end = capture_end,
                     .graph_nodes = graph_nodes,
                     .graph_instantiate = graph_instantiate,
                     .graph_destroy = graph_destroy,
                     .executable_destroy = graph_destroy,
                     .graph_launch = graph_launch};

}  // namespace

const Runtime& emulated_runtime(amdgpu::Isa isa) {
  switch (isa) {
    case amdgpu::Isa::gfx90a:
      return kTable<amdgpu::Isa::gfx90a>;
    case amdgpu::Isa::gfx942:
      return kTable<amdgpu::Isa::gfx942>;
    case amdgpu::Isa::gfx950:
      break;
  }
  return kTable<amdgpu::Isa::gfx950>;
}

void set_emulated_checks(Context context, const amdgpu::Checks& checks) {
  static_cast<EmulatedDevice*>(context)->set_checks(checks);
}

amdgpu::Counts take_emulated_counts(Context context) { return static_cast<EmulatedDevice*>(context)->take_counts(); }

}  // namespace rung::gpu
