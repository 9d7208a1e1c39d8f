// Executes modules, launches, copies and fills of the emulated GPU.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/emulated_device.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "amdgpu/run/execute.hpp"
#include "base/cores.hpp"

namespace rung::gpu {
namespace {

amdgpu::Extents extents_of(const Extent& extent) { return {extent.x, extent.y, extent.z}; }
uint64_t volume(const Extent& extent) { return uint64_t{extent.x} * extent.y * extent.z; }

bool is_hidden(const amdgpu::KernelArgument& argument) { return argument.kind.starts_with("hidden_"); }

// Copies the source's marks of written bytes: the copy of an unwritten byte is unwritten, too.
void carry_written(const amdgpu::Region& to, uint64_t to_address, const amdgpu::Region& from, uint64_t from_address,
                   size_t bytes) {
  if (from.all_written(from_address, bytes)) return to.mark(to_address, bytes);
  for (size_t i = 0; i < bytes; ++i) {
    if (from.all_written(from_address + i, 1))
      to.mark(to_address + i, 1);
    else
      to.unmark(to_address + i, 1);
  }
}

}  // namespace

EmulatedDevice::EmulatedDevice(amdgpu::Isa isa) : isa_(isa), threads_(usable_cores()) {}

Result<std::unique_ptr<EmulatedModule>> EmulatedDevice::load(std::span<const std::byte> file) {
  auto made = std::make_unique<EmulatedModule>();
  made->file.assign(file.begin(), file.end());
  RUNG_TRY(made->object, amdgpu::read_code_object(made->file));
  if (made->object.isa != isa_)
    return bad_file("a code object for {}, this device is {}", amdgpu::info_of(made->object.isa).name,
                    amdgpu::info_of(isa_).name);
  RUNG_TRY(made->image, amdgpu::Image::load(made->object, memory_));
  RUNG_TRY(made->code, amdgpu::DecodedCode::make(made->object, made->image->base()));
  return made;
}

Result<EmulatedFunction*> EmulatedDevice::function(const EmulatedModule& module, std::string_view name) {
  const amdgpu::KernelInfo* kernel = module.object.find(name);
  if (!kernel) return fail("no kernel '{}' in this module", name);
  RUNG_TRY(auto program, amdgpu::Program::make(module.code, *kernel));
  auto made = std::make_unique<EmulatedFunction>();
  made->kernel = kernel;
  made->program = std::make_unique<const amdgpu::Program>(std::move(program));
  std::lock_guard lock(mutex_);
  return functions_.emplace_back(std::move(made)).get();
}

Result<EmulatedLaunch> EmulatedDevice::prepare(const EmulatedFunction& function, const Launch& shape,
                                               void** parameters) const {
  const amdgpu::KernelInfo& kernel = *function.kernel;
  if (shape.cooperative) return fail("'{}': launches of a whole grid are not emulated", kernel.name);
  if (volume(shape.cluster) != 1) return fail("'{}': {} has no clusters of blocks", kernel.name, info_of(isa_).name);
  EmulatedLaunch made{&function, shape, {}};
  for (const amdgpu::KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument)) continue;
    made.arguments.resize(std::max<size_t>(made.arguments.size(), argument.offset + argument.size));
    std::memcpy(made.arguments.data() + argument.offset, *parameters++, argument.size);
  }
  return made;
}

Status EmulatedDevice::put(EmulatedStream& stream, const EmulatedWork& work) {
  if (dead_) return device_fault("{}", fault_);
  if (stream.recording) {
    if (stream.recorder != std::this_thread::get_id()) return fail("another thread is recording this stream");
    stream.recording->push_back(work);
    return {};
  }
  return std::visit([&](const auto& each) { return run(stream, each); }, work);
}

Status EmulatedDevice::replay(EmulatedStream& stream, const EmulatedGraph& graph) {
  for (const EmulatedWork& work : graph) RUNG_CHECK(put(stream, work));
  return {};
}

Status EmulatedDevice::run(EmulatedStream& stream, const EmulatedLaunch& launch) {
  const amdgpu::Dispatch dispatch{.program = launch.function->program.get(),
                                  .groups = extents_of(launch.shape.grid),
                                  .threads = extents_of(launch.shape.block),
                                  .dynamic_lds_bytes = launch.shape.shared_bytes,
                                  .arguments = launch.arguments};
  auto done = amdgpu::execute(dispatch, memory_, checks_, threads_);
  if (!done) return fail_in(done.error(), "'{}'", launch.function->kernel->name);
  stream.instructions += done->counts.instructions;
  {
    std::lock_guard lock(mutex_);
    counts_.add(done->counts);
  }
  return done->defects.empty() ? Status{} : die(amdgpu::text_of(done->defects));
}

Status EmulatedDevice::run(EmulatedStream&, const EmulatedCopy& copy) {
  const auto to = reinterpret_cast<uint64_t>(copy.to), from = reinterpret_cast<uint64_t>(copy.from);
  if (copy.bytes == 0) return {};
  if (copy.to_device) RUNG_CHECK(reach("a copy to", to, copy.bytes));
  if (copy.from_device) RUNG_CHECK(reach("a copy from", from, copy.bytes));
  std::memmove(copy.to, copy.from, copy.bytes);
  if (!copy.to_device) return {};
  if (copy.from_device)
    carry_written(*memory_.find(to, copy.bytes), to, *memory_.find(from, copy.bytes), from, copy.bytes);
  else
    memory_.mark_written(to, copy.bytes);
  return {};
}

Status EmulatedDevice::run(EmulatedStream&, const EmulatedFill& fill) {
  if (fill.bytes == 0) return {};
  RUNG_CHECK(reach("a fill of", fill.to, fill.bytes));
  std::memset(device_pointer(fill.to), fill.value, fill.bytes);
  memory_.mark_written(fill.to, fill.bytes);
  return {};
}

Status EmulatedDevice::run(EmulatedStream& stream, const EmulatedHostCall& call) {
  call.function(call.data);
  stream.instructions += call.instructions;
  return {};
}

Status EmulatedDevice::reach(const char* what, uint64_t address, size_t bytes) {
  if (memory_.find(address, bytes)) return {};
  return die(fmt::format("{} {} bytes at 0x{:x}, which no allocation holds", what, bytes, address));
}

Status EmulatedDevice::die(std::string why) {
  std::lock_guard lock(mutex_);
  if (!dead_) {
    fault_ = std::move(why);
    dead_ = true;
  }
  return device_fault("{}", fault_);
}

amdgpu::Counts EmulatedDevice::take_counts() {
  std::lock_guard lock(mutex_);
  return std::exchange(counts_, {});
}

}  // namespace rung::gpu
