// Opens a GPU, and handles its memory and modules, each with its context current.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu.hpp"

#include "device/gpu/current_context.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

constexpr size_t kDefaultSharedBytes = 48 << 10;  // a kernel must ask for more

thread_local ChoreCounts own_chores{};  // this thread's own

}  // namespace

Block::~Block() {
  if (address_ == 0) return;
  const CurrentContext current(*gpu_);
  gpu_->runtime().release(address_);
}

Result<std::shared_ptr<Gpu>> Gpu::open(const Runtime& runtime, int device) {
  int count = 0;
  if (int code = runtime.device_count(&count)) return no_device("{}: {}", runtime.name, runtime.error_text(code));
  if (device < 0 || device >= count)
    return no_device("there is no {} device {}; this machine has {}", runtime.name, device, count);
  GpuInfo info;
  if (int code = runtime.describe(device, &info)) return no_device("{}: {}", runtime.name, runtime.error_text(code));
  std::shared_ptr<Gpu> gpu(new Gpu(runtime, std::move(info)));
  RUNG_CHECK(
      errors_of(ErrorKind::device, gpu->check(runtime.context_create(&gpu->context_, device), "opening the device")));
  RUNG_CHECK(gpu->memory());  // an unusable device fails here
  return gpu;
}

Gpu::~Gpu() {
  if (!context_) return;
  const CurrentContext current(*this);
  for (auto& [name, module] : modules_) runtime_.module_unload(module);
  runtime_.context_destroy(context_);
}

Status Gpu::check(int code, std::string_view what) const {
  if (code == 0) return {};
  const std::string text = fmt::format("{}: {}: {} ({})", info_.name, what, runtime_.error_text(code), code);
  if (runtime_.is_fault(code)) return device_fault("{}", text);
  return fail("{}", text);
}

Status Gpu::check_process() const {
  if (!made_in_.another_process()) return {};
  return no_device(
      "{} was opened before this process was forked, and works in the parent alone: fork first, or start the child as "
      "a program of its own",
      info_.name);
}

Result<MemoryInfo> Gpu::memory() const {
  const CurrentContext current(*this);
  MemoryInfo memory;
  RUNG_CHECK(check(runtime_.memory_info(&memory.free, &memory.total), "asking for free memory"));
  return memory;
}

Status Gpu::check_free(size_t bytes) const {
  RUNG_TRY(MemoryInfo memory, this->memory());
  if (bytes <= memory.free) return {};
  return no_memory("{}: not enough memory: wanted {} bytes, {} of {} are free", info_.name, bytes, memory.free,
                   memory.total);
}

void Gpu::count(Chore chore) {
  chores_[static_cast<size_t>(chore)].fetch_add(1, std::memory_order_relaxed);
  ++own_chores[static_cast<size_t>(chore)];
}

ChoreCounts Gpu::chores() const {
  ChoreCounts counts{};
  for (size_t i = 0; i < kChores; ++i) counts[i] = chores_[i].load(std::memory_order_relaxed);
  return counts;
}

ChoreCounts Gpu::chores_of_this_thread() { return own_chores; }

Result<std::shared_ptr<Block>> Gpu::allocate(size_t bytes) {
  const CurrentContext current(*this);
  count(Chore::allocate);
  RUNG_CHECK(check_free(bytes));
  Address address = 0;
  RUNG_CHECK(errors_of(ErrorKind::memory, check(runtime_.allocate(&address, bytes == 0 ? 1 : bytes),
                                                fmt::format("allocating {} bytes", bytes))));
  return std::make_shared<Block>(shared_from_this(), address, bytes);
}

Result<Module> Gpu::module(std::string_view name) {
  if (auto it = modules_.find(name); it != modules_.end()) return it->second;
  const void* image = embedded_module(name, info_.architecture);
  if (!image) {
    const Verdict others = has_kernels_for(info_.architecture);
    return no_device("{}: there is no GPU module '{}' for {}{}", info_.name, name,
                     architecture_name(info_.architecture), others ? "" : ": " + others.reason);
  }
  return load(name, image);
}

Result<Module> Gpu::load(std::string_view name, const void* image) {
  count(Chore::load_module);
  Module module = nullptr;
  RUNG_CHECK(check(runtime_.module_load(&module, image), fmt::format("loading the module '{}'", name)));
  modules_.emplace(name, module);
  return module;
}

Status Gpu::add_module(const std::string& name, const void* image) {
  const CurrentContext current(*this);
  std::lock_guard lock(mutex_);
  if (modules_.contains(name)) return {};
  RUNG_CHECK(load(name, image));
  return {};
}

Result<Function> Gpu::function(std::string_view module_name, std::string_view name, size_t shared_bytes) {
  const CurrentContext current(*this);
  std::lock_guard lock(mutex_);
  const auto key = std::pair(std::string(module_name), std::string(name));
  auto it = functions_.find(key);
  if (it == functions_.end()) {
    RUNG_TRY(Module loaded, module(module_name));
    count(Chore::find_kernel);
    LoadedFunction found;
    RUNG_CHECK(check(runtime_.module_function(&found.function, loaded, std::string(name).c_str()),
                     fmt::format("looking up the kernel '{}'", name)));
    it = functions_.emplace(key, found).first;
  }
  LoadedFunction& loaded = it->second;
  if (shared_bytes > kDefaultSharedBytes && shared_bytes > loaded.shared_bytes) {
    count(Chore::allow_shared);
    RUNG_CHECK(check(runtime_.allow_shared_bytes(loaded.function, shared_bytes),
                     fmt::format("'{}' with {} bytes of shared memory", name, shared_bytes)));
    loaded.shared_bytes = shared_bytes;
  }
  return loaded.function;
}

}  // namespace rung::gpu
