// A GPU of AMD's that this processor plays: what the functions of the runtime table `emu` do, as objects. Work is done
// where it is put into a stream, so that all order holds by itself; a stream that is being recorded keeps it instead.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "amdgpu/run/checks.hpp"
#include "amdgpu/run/count.hpp"
#include "amdgpu/run/image.hpp"
#include "amdgpu/run/memory.hpp"
#include "amdgpu/run/program.hpp"
#include "device/gpu/runtime.hpp"

namespace rung::gpu {

struct EmulatedModule {
  std::vector<std::byte> file;  // which the object views
  amdgpu::CodeObject object;
  std::unique_ptr<amdgpu::Image> image;
  std::shared_ptr<const amdgpu::DecodedCode> code;
};

struct EmulatedFunction {
  const amdgpu::KernelInfo* kernel = nullptr;
  std::unique_ptr<const amdgpu::Program> program;
};

// A launch that a stream takes, with all that it needs: the caller's arguments are gone when a graph runs.
struct EmulatedLaunch {
  const EmulatedFunction* function = nullptr;
  Launch shape;
  std::vector<std::byte> arguments;
};
struct EmulatedCopy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  bool to_device = false, from_device = false;
};
struct EmulatedFill {
  Address to = 0;
  uint8_t value = 0;
  size_t bytes = 0;
};
// A function of the host's in its turn: how a library that has no kernels stands in for one that does.
struct EmulatedHostCall {
  void (*function)(void* data) = nullptr;
  void* data = nullptr;
  uint64_t instructions = 0;  // that such work is said to take
};
using EmulatedWork = std::variant<EmulatedLaunch, EmulatedCopy, EmulatedFill, EmulatedHostCall>;
using EmulatedGraph = std::vector<EmulatedWork>;

struct EmulatedStream {
  std::atomic<uint64_t> instructions{0};     // of waves, that its work took so far: its clock
  std::unique_ptr<EmulatedGraph> recording;  // null: none
  std::thread::id recorder;                  // who alone launches into it meanwhile
};

struct EmulatedEvent {
  const EmulatedStream* stream = nullptr;  // where it was recorded last; null: nowhere
  uint64_t instructions = 0;               // of the stream, then
};

// A context: the memory of one opened device, what is loaded there, and what ended it. Any number of threads use it.
class EmulatedDevice {
 public:
  explicit EmulatedDevice(amdgpu::Target target);

  amdgpu::Target target() const { return target_; }
  amdgpu::Memory& memory() { return memory_; }
  // Sets the checks of launches from now on, before others are under way; by default all checks are made.
  void set_checks(const amdgpu::Checks& checks) { checks_ = checks; }
  EmulatedStream* stream_of(Stream stream) {  // null is the device's own
    return stream ? static_cast<EmulatedStream*>(stream) : &default_stream_;
  }
  // Errors: another architecture, a damaged file, no memory.
  Result<std::unique_ptr<EmulatedModule>> load(std::span<const std::byte> file);
  // The kernel of that name, alive as long as this. Errors: there is none, or nothing of it can be decoded.
  Result<EmulatedFunction*> function(const EmulatedModule& module, std::string_view name);
  // Whether a launch can be meant, and its arguments by value.
  Result<EmulatedLaunch> prepare(const EmulatedFunction& function, const Launch& shape, void** parameters) const;
  // Does the work, or records it. Errors (ErrorKind::device_fault): what a kernel or a copy did wrong, which ends the
  // device; another thread's recording.
  Status put(EmulatedStream& stream, const EmulatedWork& work);
  Status replay(EmulatedStream& stream, const EmulatedGraph& graph);
  // The fault that ended the device; null: none.
  const std::string* fault() const { return dead_ ? &fault_ : nullptr; }
  // Counts of all launches together since this was last called.
  amdgpu::Counts take_counts();

 private:
  Status run(EmulatedStream& stream, const EmulatedLaunch& launch);
  Status run(EmulatedStream& stream, const EmulatedCopy& copy);
  Status run(EmulatedStream& stream, const EmulatedFill& fill);
  Status run(EmulatedStream& stream, const EmulatedHostCall& call);
  Status die(std::string why);
  Status reach(const char* what, uint64_t address, size_t bytes);

  const amdgpu::Target target_;
  const int threads_;
  amdgpu::Checks checks_;
  amdgpu::Memory memory_;
  EmulatedStream default_stream_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<EmulatedFunction>> functions_;
  amdgpu::Counts counts_;
  std::string fault_;  // written once, before dead_ is set
  std::atomic<bool> dead_{false};
};

}  // namespace rung::gpu
