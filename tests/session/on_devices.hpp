// Sessions on the processor, on a GPU that is not there and on one that is; and memory of a caller's on each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "device/gpu/current_context.hpp"
#include "plan/support.hpp"
#include "support/device.hpp"
#include "support/fake_target.hpp"
#include "support/gpu_word.hpp"

namespace rung {

enum class On { processor, fake, device };
struct Where {
  On on;
  bool capture;
};

class OnDevices : public ::testing::TestWithParam<Where> {
 protected:
  using Values = std::vector<float>;

  void SetUp() override {
    if (GetParam().on == On::device) {
      auto opened = open_target(gpu_word());
      if (!opened) GTEST_SKIP() << opened.error().message;
      target_ = *opened;
    } else {
      target_ = GetParam().on == On::fake ? &fake_.emplace(testing::fake_target()) : &cpu_target();
    }
    if (target_->gpu) queue_ = *gpu::Queue::make(*target_->gpu);
  }
  bool on_gpu() const { return target_->gpu != nullptr; }

  // y = x * mask and a = -mask; the mask is all ones by default, and x has no default.
  std::shared_ptr<const Plan> masked_plan() {
    return plan(
        "x: f32[4] = input()\n"
        "mask: f32[4] = input()\n"
        "y: f32[4] = mul(x, mask)\n"
        "a: f32[4] = neg(mask)\n"
        "return y=y, a=a",
        [](Plan& made) {
          made.inputs[1].value = Tensor::of<float>({4}, {1, 1, 1, 1});
        });
  }
  // a: rows of a table of four, whose row i is i and 10 i.
  std::shared_ptr<const Plan> lookup_plan() {
    return plan(
        "t: f32[4,2] = input()\n"
        "i: i64[3] = input()\n"
        "a: f32[3,2] = gather(t, i, axis=0)  # the.lookup\n"
        "return a=a",
        [](Plan& made) {
          made.inputs[0].value = Tensor::of<float>({4, 2}, {0, 0, 1, 10, 2, 20, 3, 30});
        });
  }
  std::shared_ptr<const Plan> plan(const char* text, const std::function<void(Plan&)>& change) {
    auto built =
        build_plan(graph_of(text), {.capture = GetParam().capture, .threads = on_gpu() ? 0 : 2}, {.target = target_});
    EXPECT_TRUE(built) << built.error().message;
    change(built->plan);
    return std::make_shared<Plan>(std::move(built->plan));
  }
  Session open(std::shared_ptr<const Plan> of) {
    auto session = Session::create(std::move(of), on_gpu() ? nullptr : std::make_shared<cpu::Team>(2));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }

  // Memory on the device.
  template <class T>
  std::shared_ptr<gpu::Block> uploaded(const std::vector<T>& values) {
    auto block = *target_->gpu->allocate(values.size() * sizeof(T));
    EXPECT_TRUE(queue_->upload(block->address(), values.data(), block->bytes()));
    return block;
  }
  Values downloaded(gpu::Address address, size_t count) {
    Values values(count);
    EXPECT_TRUE(queue_->download(values.data(), address, count * sizeof(float)));
    return values;
  }
  Values downloaded(const gpu::Block& block) { return downloaded(block.address(), block.bytes() / sizeof(float)); }
  static void* pointer(const gpu::Block& block) { return gpu::device_pointer(block.address()); }

  // A stream of the caller's.
  std::unique_ptr<gpu::Queue> stream() const { return *gpu::Queue::make(*target_->gpu); }

  static float* floats(const Result<std::byte*>& memory) {
    EXPECT_TRUE(memory) << memory.error().message;
    return reinterpret_cast<float*>(*memory);
  }
  static Values values(const float* from, size_t count = 4) { return {from, from + count}; }
  static std::string error_of(const Status& status) { return status ? "no error" : status.error().message; }

  std::optional<Target> fake_;
  const Target* target_ = nullptr;
  std::unique_ptr<gpu::Queue> queue_;
};

}  // namespace rung
