// Kernels compiled from source by nvcc while a test runs, for the GPU that is here, and launched there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/program.hpp"
#include "device/gpu/current_context.hpp"
#include "device/gpu/queue.hpp"
#include "support/temporary_directory.hpp"

namespace rung::testing {

inline constexpr const char* kNvcc = "/usr/local/cuda/bin/nvcc";
inline bool has_nvcc() { return access(kNvcc, X_OK) == 0; }

class NvidiaKernel {
 public:
  // The source includes this project's headers by their names in `headers`.
  static Result<NvidiaKernel> make(gpu::Gpu& gpu, const std::string& source, const std::string& name,
                                   const std::string& headers) {
    const TemporaryDirectory folder;
    const std::string path = folder.write("kernel.cu", source), image = folder.path() + "/kernel.cubin";
    RUNG_TRY(const Ended ended,
             run_program(kNvcc,
                         {"-cubin", "-O3", "-std=c++20", "--expt-relaxed-constexpr",
                          fmt::format("-arch=sm_{}", gpu.info().architecture), "-I", headers, "-o", image, path},
                         500));
    if (ended.exit_code != 0) return fail("nvcc: {}", ended.errors);
    std::ifstream from(image, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(from), {});
    NvidiaKernel made(gpu);
    const gpu::CurrentContext current(gpu);
    gpu::Module module = nullptr;  // until the process ends
    RUNG_CHECK(gpu.check(gpu.runtime().module_load(&module, bytes.data()), "module"));
    RUNG_CHECK(gpu.check(gpu.runtime().module_function(&made.function_, module, name.c_str()), "function"));
    RUNG_TRY(made.queue_, gpu::Queue::make(gpu));
    return made;
  }

  // An array on the device with these values.
  template <class T>
  Result<gpu::Address> put(const std::vector<T>& values) {
    RUNG_TRY(auto block, gpu_->allocate(values.size() * sizeof(T)));
    RUNG_CHECK(queue_->upload(block->address(), values.data(), values.size() * sizeof(T)));
    return blocks_.emplace_back(std::move(block))->address();
  }
  template <class T>
  Status get(std::vector<T>& values, gpu::Address from) {
    return queue_->download(values.data(), from, values.size() * sizeof(T));
  }
  Status launch(uint32_t groups, uint32_t threads, std::vector<gpu::Address> addresses) {
    std::vector<void*> parameters;
    for (gpu::Address& each : addresses) parameters.push_back(&each);
    const gpu::CurrentContext current(*gpu_);
    const gpu::Launch shape{.grid = {groups}, .block = {threads}};
    return gpu_->check(gpu_->runtime().launch(function_, shape, parameters.data(), queue_->stream()), "launch");
  }

 private:
  explicit NvidiaKernel(gpu::Gpu& gpu) : gpu_(&gpu) {}
  gpu::Gpu* gpu_;
  gpu::Function function_ = nullptr;
  std::unique_ptr<gpu::Queue> queue_;
  std::vector<std::shared_ptr<gpu::Block>> blocks_;
};

}  // namespace rung::testing
