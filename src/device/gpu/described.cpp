// The runtime table of described GPUs: it looks up modules, keeps launches, and grants everything else.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/described.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "device/gpu/cards.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

enum Code { kDone = 0, kNoContext = 1, kNoSuchKernel = 2, kBadModule = 3, kNotThere = 4, kTooLarge = 5 };

struct DescribedFunction {
  std::string name;
  const amdgpu::KernelInfo* kernel = nullptr;
};

// A context: its card, the modules and functions looked up in it, and its launches.
struct DescribedDevice {
  explicit DescribedDevice(const Card& is) : card(is) {}
  const Card& card;
  std::map<const void*, amdgpu::CodeObject> objects;  // AMD's modules, by image
  std::deque<DescribedFunction> functions;
  std::vector<RecordedLaunch> launches;
};

thread_local DescribedDevice* here = nullptr;  // the current context

const char* error_text_of(int code) {
  static constexpr const char* kTexts[] = {"done",
                                           "no device's context is current",
                                           "the module has no such kernel",
                                           "the module cannot be read",
                                           "a described device does no work",
                                           "a block is larger than the kernel or the device allows"};
  return kTexts[code];
}

int describe_card(int device, GpuInfo* info) { return *info = info_of(cards()[device]), kDone; }
int count_cards(int* count) { return *count = static_cast<int>(cards().size()), kDone; }

int create(Context* context, int device) { return *context = new DescribedDevice(cards()[device]), kDone; }
int destroy(Context context) {
  if (here == context) here = nullptr;
  return delete static_cast<DescribedDevice*>(context), kDone;
}
int use(Context context) { return here = static_cast<DescribedDevice*>(context), kDone; }
int current_one(Context* context) { return *context = here, kDone; }

int memory_of(size_t* free, size_t* total) {
  if (!here) return kNoContext;
  return *free = *total = static_cast<size_t>(here->card.memory_gib) << 30, kDone;
}

// Returns the file that begins at an image of AMD's.
std::span<const std::byte> file_of(const void* image) {
  for (const EmbeddedModule& module : embedded_modules())
    if (module.begin == image) return std::as_bytes(std::span(module.begin, module.bytes()));
  return {};
}

int load(Module* module, const void* image) {
  if (!here) return kNoContext;
  *module = const_cast<void*>(image);
  if (vendor_of(here->card.architecture) == Vendor::nvidia) return kDone;
  auto object = amdgpu::read_code_object(file_of(image));
  if (!object) return kBadModule;
  return here->objects.insert_or_assign(image, std::move(*object)), kDone;
}

int find(Function* function, Module module, const char* name) {
  if (!here) return kNoContext;
  DescribedFunction found{name, nullptr};
  if (auto object = here->objects.find(module); object != here->objects.end()) {
    found.kernel = object->second.find(name);
    if (!found.kernel) return kNoSuchKernel;
  }
  return *function = &here->functions.emplace_back(std::move(found)), kDone;
}

int record(Function function, const Launch& shape, void**, Stream) {
  if (!here) return kNoContext;
  const auto& [name, kernel] = *static_cast<const DescribedFunction*>(function);
  const uint32_t threads = shape.block.x * shape.block.y * shape.block.z;
  const uint32_t own_bytes = kernel ? kernel->lds_bytes : 0;
  if (shape.shared_bytes + own_bytes > info_of(here->card).shared_bytes_per_block ||
      (kernel && threads > kernel->most_threads))
    return kTooLarge;
  return here->launches.push_back({name, kernel, shape}), kDone;
}

template <class... Arguments>
int grant(Arguments...) {
  return kDone;
}
template <class... Arguments>
int refuse_work(Arguments...) {
  return kNotThere;
}

}  // namespace

const Runtime& described_runtime() {
  static const Runtime table{.name = "described",
                             .error_text = error_text_of,
                             .is_fault = [](int) { return false; },
                             .device_count = count_cards,
                             .describe = describe_card,
                             .sensors = nullptr,
                             .gemm_libraries = {},
                             .context_create = create,
                             .context_destroy = destroy,
                             .context_use = use,
                             .context_current = current_one,
                             .memory_info = memory_of,
                             .allocate = refuse_work,
                             .release = refuse_work,
                             .allocate_pinned = refuse_work,
                             .release_pinned = refuse_work,
                             .reaches = nullptr,
                             .upload = refuse_work,
                             .download = refuse_work,
                             .copy = grant,
                             .fill = grant,
                             .stream_create = [](Stream* stream) { return *stream = nullptr, int{kDone}; },
                             .stream_destroy = grant,
                             .stream_synchronize = grant,
                             .stream_wait = grant,
                             .event_create = refuse_work,
                             .event_create_untimed = refuse_work,
                             .event_destroy = refuse_work,
                             .event_record = refuse_work,
                             .event_synchronize = refuse_work,
                             .event_elapsed_ms = refuse_work,
                             .module_load = load,
                             .module_unload = grant,
                             .module_function = find,
                             .allow_shared_bytes = grant,
                             .blocks_per_multiprocessor = refuse_work,
                             .tile_map = grant,
                             .launch = record,
                             .tensor_map = grant,
                             .capture_begin = refuse_work,
                             .capture_end = refuse_work,
                             .graph_nodes = refuse_work,
                             .graph_instantiate = refuse_work,
                             .graph_destroy = refuse_work,
                             .executable_destroy = refuse_work,
                             .graph_launch = refuse_work};
  return table;
}

std::vector<RecordedLaunch> take_recorded_launches(Context context) {
  return std::exchange(static_cast<DescribedDevice*>(context)->launches, {});
}

}  // namespace rung::gpu
