// The vendor's GEMM library from several threads and on several devices: it has a handle for each device.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/cublaslt.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>
#include <vector>

#include "device/gpu/current_context.hpp"
#include "device/gpu/queue.hpp"

namespace rung {
namespace {

constexpr int64_t kSize = 64;

std::vector<float> small_integers(int64_t modulus) {
  std::vector<float> values(kSize * kSize);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int64_t>(i) % modulus - 2);
  return values;
}

// x w' of small integers, which f32 holds exactly, so often on that device.
Status multiply(gpu::Gpu& gpu, int64_t modulus, int times) {
  const gpu::CurrentContext current(gpu);
  RUNG_TRY(auto queue, gpu::Queue::make(gpu));
  RUNG_TRY(auto product, (*gpu::cublaslt())
                             ->prepare({.x = DType::f32,
                                        .w = DType::f32,
                                        .out = DType::f32,
                                        .m = kSize,
                                        .n = kSize,
                                        .k = kSize,
                                        .x_stride = kSize,
                                        .w_stride = kSize,
                                        .out_stride = kSize}));
  const std::vector<float> x = small_integers(modulus), w = small_integers(5);
  constexpr size_t kBytes = kSize * kSize * sizeof(float);
  RUNG_TRY(auto block, gpu.allocate(3 * kBytes + gpu::kLibraryWorkspaceBytes));
  const gpu::LibraryOperands operands{.x = block->address(),
                                      .w = block->address() + kBytes,
                                      .out = block->address() + 2 * kBytes,
                                      .workspace = block->address() + 3 * kBytes};
  RUNG_CHECK(queue->upload(operands.x, x.data(), kBytes));
  RUNG_CHECK(queue->upload(operands.w, w.data(), kBytes));
  std::vector<float> out(x.size());
  for (int time = 0; time < times; ++time) {
    RUNG_CHECK(queue->fill(operands.out, 0xff, kBytes));
    RUNG_CHECK(product->enqueue(operands, queue->stream()));
    RUNG_CHECK(queue->download(out.data(), operands.out, kBytes));
    for (int64_t at = 0; at < kSize * kSize; ++at) {
      float want = 0;
      for (int64_t k = 0; k < kSize; ++k)
        want += x[static_cast<size_t>(at / kSize * kSize + k)] * w[static_cast<size_t>(at % kSize * kSize + k)];
      if (out[static_cast<size_t>(at)] != want)
        return fail("element {}: got {}, wanted {}", at, out[static_cast<size_t>(at)], want);
    }
  }
  return {};
}

// Of this machine; open until the process ends, as targets are: the library's handles belong to their contexts.
const std::vector<std::shared_ptr<gpu::Gpu>>& devices_of(const gpu::Runtime& runtime) {
  static const auto* all = [&] {
    auto* opened = new std::vector<std::shared_ptr<gpu::Gpu>>;
    while (auto device = gpu::Gpu::open(runtime, static_cast<int>(opened->size()))) opened->push_back(*device);
    return opened;
  }();
  return *all;
}

class GpuLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    auto runtime = gpu::cuda_runtime();
    if (!runtime) GTEST_SKIP() << runtime.error().message;
    if (auto library = gpu::cublaslt(); !library) GTEST_SKIP() << library.error().message;
    devices = devices_of(**runtime);
    ASSERT_FALSE(devices.empty());
  }
  std::vector<std::shared_ptr<gpu::Gpu>> devices;
};

void expect_done(const Status& status) { EXPECT_TRUE(status) << status.error().message; }

TEST_F(GpuLibrary, MultipliesOnSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { expect_done(multiply(*devices[0], 3 + i, 100)); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GpuLibrary, MultipliesOnEveryDevice) {
  if (devices.size() < 2) GTEST_SKIP() << "this machine has one device";
  for (int round = 0; round < 2; ++round)
    for (const auto& device : devices) expect_done(multiply(*device, 7, 3));
  std::vector<std::thread> threads;
  for (const auto& device : devices) threads.emplace_back([&] { expect_done(multiply(*device, 7, 100)); });
  for (std::thread& thread : threads) thread.join();
}

// As PyTorch names them in its files: "id_66_tile_20_stages_36_...", another one for each algorithm.
TEST_F(GpuLibrary, TellsTheParametersOfItsAlgorithms) {
  const gpu::CurrentContext current(*devices[0]);
  gpu::LibraryGemm gemm{.m = 48, .n = 1024, .k = 1024, .x_stride = 1024, .w_stride = 1024, .out_stride = 1024};
  std::set<std::string> all;
  for (gemm.algorithm = 0; gemm.algorithm < gpu::kLibraryAlgorithms; ++gemm.algorithm) {
    const auto text = (*gpu::cublaslt())->parameters(gemm);
    if (!text) break;  // it offers no more
    EXPECT_THAT(*text, ::testing::MatchesRegex("id_[0-9]+_tile_[0-9]+_stages_[0-9]+_splitk_[0-9]+_red_[0-9]+_swizzle_"
                                               "[0-9]+_custom_[0-9]+_inner_[0-9]+_cluster_[0-9]+"));
    EXPECT_TRUE(all.insert(*text).second) << *text;
  }
  EXPECT_GT(all.size(), 1u);
}

}  // namespace
}  // namespace rung
