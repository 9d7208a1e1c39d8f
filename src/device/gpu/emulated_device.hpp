// An emulated GPU of AMD's: the work of the functions of the runtime table `emu`, as objects. Work is done when it is
// put into a stream, so all order holds by itself; a stream that is being recorded keeps the work instead.
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
  std::vector<std::byte> file;  // the object views it
  amdgpu::CodeObject object;
  std::unique_ptr<amdgpu::Image> image;
  std::shared_ptr<const amdgpu::DecodedCode> code;
};

struct EmulatedFunction {
  const amdgpu::KernelInfo* kernel = nullptr;
  std::unique_ptr<const amdgpu::Program> program;
};

// A launch put into a stream, with all that it needs: the caller's arguments are gone when a graph runs.
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
// A call of a host function in its turn, by which a library without kernels stands in for one with kernels.
struct EmulatedHostCall {
  void (*function)(void* data) = nullptr;
  void* data = nullptr;
  uint64_t instructions = 0;  // the number that such work is said to take
};
using EmulatedWork = std::variant<EmulatedLaunch, EmulatedCopy, EmulatedFill, EmulatedHostCall>;
using EmulatedGraph = std::vector<EmulatedWork>;

struct EmulatedStream {
  std::atomic<uint64_t> instructions{0};     // of waves, spent on its work so far: its clock
  std::unique_ptr<EmulatedGraph> recording;  // null: none
  std::thread::id recorder;                  // the only thread that launches into it meanwhile
};

struct EmulatedEvent {
  const EmulatedStream* stream = nullptr;  // the stream that it was recorded in last; null: none
  uint64_t instructions = 0;               // the stream's count then
};

// A context: the memory of one opened device, its modules, and the fault that ended it. Any number of threads use it.
class EmulatedDevice {
 public:
  explicit EmulatedDevice(amdgpu::Isa isa);

  amdgpu::Isa isa() const { return isa_; }
  amdgpu::Memory& memory() { return memory_; }
  // Sets the checks of launches from now on, before others are under way; by default all checks are made.
  void set_checks(const amdgpu::Checks& checks) { checks_ = checks; }
  EmulatedStream* stream_of(Stream stream) {  // null is the device's own
    return stream ? static_cast<EmulatedStream*>(stream) : &default_stream_;
  }
  // Errors: another architecture, a damaged file, no memory.
  Result<std::unique_ptr<EmulatedModule>> load(std::span<const std::byte> file);
  // Returns the kernel of that name, alive as long as this. Errors: there is none, or nothing of it can be decoded.
  Result<EmulatedFunction*> function(const EmulatedModule& module, std::string_view name);
  // Returns a launch with its arguments by value. Errors: it cannot be emulated.
  Result<EmulatedLaunch> prepare(const EmulatedFunction& function, const Launch& shape, void** parameters) const;
  // Does the work, or records it. Errors (ErrorKind::device_fault): a mistake of a kernel or a copy, which ends the
  // device; another thread is recording.
  Status put(EmulatedStream& stream, const EmulatedWork& work);
  Status replay(EmulatedStream& stream, const EmulatedGraph& graph);
  // The fault that ended the device; null: none.
  const std::string* fault() const { return dead_ ? &fault_ : nullptr; }
  // Returns the counts of all launches together since the last call.
  amdgpu::Counts take_counts();

 private:
  Status run(EmulatedStream& stream, const EmulatedLaunch& launch);
  Status run(EmulatedStream& stream, const EmulatedCopy& copy);
  Status run(EmulatedStream& stream, const EmulatedFill& fill);
  Status run(EmulatedStream& stream, const EmulatedHostCall& call);
  Status die(std::string why);
  Status reach(const char* what, uint64_t address, size_t bytes);

  const amdgpu::Isa isa_;
  const int threads_;
  amdgpu::Checks checks_;
  amdgpu::Memory memory_;
  EmulatedStream default_stream_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<EmulatedFunction>> functions_;
  amdgpu::Counts counts_;
  std::string fault_;  // written once, before dead_ is set
  std::atomic<bool> dead_{false};
};

}  // namespace rung::gpu
