// Opening a GPU, its memory, its modules.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu.hpp"

namespace rung::gpu {
namespace {

constexpr size_t kDefaultSharedBytes = 48 << 10;  // above it a kernel must ask

}  // namespace

Block::~Block() {
  if (address_ == 0) return;
  gpu_->runtime().context_use(gpu_->context());
  gpu_->runtime().release(address_);
}

Result<std::shared_ptr<Gpu>> Gpu::open(const Runtime& runtime, int device) {
  int count = 0;
  if (int code = runtime.device_count(&count)) return fail("{}: {}", runtime.name, runtime.error_text(code));
  if (device < 0 || device >= count)
    return fail("there is no {} device {}; this machine has {}", runtime.name, device, count);
  GpuInfo info;
  if (int code = runtime.describe(device, &info)) return fail("{}: {}", runtime.name, runtime.error_text(code));
  std::shared_ptr<Gpu> gpu(new Gpu(runtime, std::move(info)));
  RUNG_CHECK(gpu->check(runtime.context_create(&gpu->context_, device), "opening the device"));
  RUNG_CHECK(gpu->check(runtime.context_use(gpu->context_), "opening the device"));
  RUNG_CHECK(gpu->check(runtime.stream_create(&gpu->stream_), "creating a stream"));
  return gpu;
}

Gpu::~Gpu() {
  if (!context_) return;
  runtime_.context_use(context_);
  for (auto& [name, module] : modules_) runtime_.module_unload(module);
  if (stream_) runtime_.stream_destroy(stream_);
  runtime_.context_destroy(context_);
}

Status Gpu::check(int code, std::string_view what) const {
  if (code == 0) return {};
  return fail("{}: {}: {} ({})", info_.name, what, runtime_.error_text(code), code);
}

Status Gpu::check_free(size_t bytes) const {
  RUNG_CHECK(check(runtime_.context_use(context_), "choosing the device"));
  size_t free = 0, total = 0;
  RUNG_CHECK(check(runtime_.memory_info(&free, &total), "asking for free memory"));
  if (bytes <= free) return {};
  return fail("{}: not enough memory: wanted {} bytes, {} of {} are free", info_.name, bytes, free, total);
}

ChoreCounts Gpu::chores() const {
  ChoreCounts counts{};
  for (size_t i = 0; i < kChores; ++i) counts[i] = chores_[i].load(std::memory_order_relaxed);
  return counts;
}

Result<std::shared_ptr<Block>> Gpu::allocate(size_t bytes) {
  count(Chore::allocate);
  RUNG_CHECK(check_free(bytes));
  Address address = 0;
  RUNG_CHECK(check(runtime_.allocate(&address, bytes == 0 ? 1 : bytes), fmt::format("allocating {} bytes", bytes)));
  return std::make_shared<Block>(shared_from_this(), address, bytes);
}

Status Gpu::upload(Address to, const void* from, size_t bytes) {
  count(Chore::copy);
  RUNG_CHECK(check(runtime_.upload(to, from, bytes, stream_), "upload"));
  return wait();
}

Status Gpu::download(void* to, Address from, size_t bytes) {
  count(Chore::copy);
  RUNG_CHECK(check(runtime_.download(to, from, bytes, stream_), "download"));
  return wait();
}

Status Gpu::wait() {
  count(Chore::wait);
  return check(runtime_.stream_synchronize(stream_), "waiting for the device");
}

Result<Module> Gpu::module(std::string_view name) {
  if (auto it = modules_.find(name); it != modules_.end()) return it->second;
  const void* image = embedded_module(name);
  if (!image) return fail("there is no GPU module '{}' in this build: {}", name, missing_modules_reason());
  count(Chore::load_module);
  Module module = nullptr;
  RUNG_CHECK(check(runtime_.module_load(&module, image), fmt::format("loading the module '{}'", name)));
  modules_.emplace(name, module);
  return module;
}

Result<Function> Gpu::function(std::string_view module_name, std::string_view name, size_t shared_bytes) {
  std::lock_guard lock(mutex_);
  auto of_module = functions_.find(module_name);
  if (of_module == functions_.end()) of_module = functions_.emplace(module_name, Functions{}).first;
  auto it = of_module->second.find(name);
  if (it == of_module->second.end()) {
    RUNG_TRY(Module loaded, module(module_name));
    count(Chore::find_kernel);
    LoadedFunction found;
    RUNG_CHECK(check(runtime_.module_function(&found.function, loaded, std::string(name).c_str()),
                     fmt::format("looking up the kernel '{}'", name)));
    it = of_module->second.emplace(name, found).first;
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
