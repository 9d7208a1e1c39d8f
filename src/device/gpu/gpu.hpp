// One opened GPU: its context, its modules, and memory that frees itself. Any number of threads may use it at once;
// each puts its work into queues of its own (queue.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/forks.hpp"
#include "device/gpu/runtime.hpp"

namespace rung::gpu {

class Gpu;

// Device memory, which its last holder frees.
class Block {
 public:
  Block(std::shared_ptr<Gpu> gpu, Address address, size_t bytes)
      : gpu_(std::move(gpu)), address_(address), bytes_(bytes) {}
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Address address() const { return address_; }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Gpu> gpu_;
  Address address_;
  size_t bytes_;
};

// Work of a Gpu besides launching: none of it belongs into a recorded graph.
enum class Chore : uint8_t { allocate, load_module, find_kernel, allow_shared, wait, copy };
inline constexpr size_t kChores = 6;
using ChoreCounts = std::array<int, kChores>;

struct MemoryInfo {
  size_t free = 0, total = 0;  // bytes
};

class Gpu : public std::enable_shared_from_this<Gpu> {
 public:
  // Errors: no such device, the context cannot be made.
  static Result<std::shared_ptr<Gpu>> open(const Runtime& runtime, int device);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const GpuInfo& info() const { return info_; }
  const Runtime& runtime() const { return runtime_; }
  Context context() const { return context_; }
  // Errors: the GPU was opened before this process was forked (ErrorKind::device).
  Status check_process() const;

  // Allocates with 256-byte alignment. Errors: too little is free (both amounts are named); nothing is allocated then.
  Result<std::shared_ptr<Block>> allocate(size_t bytes);
  // Errors: fewer bytes are free; the text names both amounts.
  Status check_free(size_t bytes) const;
  Result<MemoryInfo> memory() const;
  // Loads a module that is not embedded, under a name of its own; does nothing if there is one of that name.
  Status add_module(const std::string& name, const void* image);
  // Returns a kernel of an embedded or added module, loaded on first use and given `shared_bytes` if above the default
  // limit.
  Result<Function> function(std::string_view module, std::string_view name, size_t shared_bytes = 0);
  // Returns the error for a code of the runtime: "upload: an illegal memory access was encountered (700)";
  // ErrorKind::device_fault if it is a fault of the device.
  Status check(int code, std::string_view what) const;
  void count(Chore chore);
  // The number of times that each chore was done: by all threads, and on all devices by the calling thread.
  ChoreCounts chores() const;
  static ChoreCounts chores_of_this_thread();

 private:
  Gpu(const Runtime& runtime, GpuInfo info) : runtime_(runtime), info_(std::move(info)) {}
  Result<Module> module(std::string_view name);
  Result<Module> load(std::string_view name, const void* image);
  const Runtime& runtime_;
  GpuInfo info_;
  Context context_ = nullptr;
  const MadeIn made_in_;
  std::mutex mutex_;  // guards the maps
  std::map<std::string, Module, std::less<>> modules_;
  struct LoadedFunction {
    Function function = nullptr;
    size_t shared_bytes = 0;  // allowed so far
  };
  std::map<std::pair<std::string, std::string>, LoadedFunction> functions_;  // by module and name
  std::array<std::atomic<int>, kChores> chores_{};
};

}  // namespace rung::gpu
