// Weights on a device that is not there: each host block is there once.
// SPDX-License-Identifier: Apache-2.0
#include "session/gpu_weights.hpp"

#include <gmock/gmock.h>

#include "ir/tensor.hpp"
#include "support/fake_target.hpp"

namespace rung {
namespace {

class GpuWeights : public ::testing::Test {
 protected:
  std::shared_ptr<Tensor> a = std::make_shared<Tensor>(Tensor::of<float>({4}, {1, 2, 3, 4}));
  std::shared_ptr<Tensor> b = std::make_shared<Tensor>(Tensor::of<float>({2}, {5, 6}));
  Target target = testing::fake_target();

  Plan plan_of(const std::vector<std::shared_ptr<Tensor>>& tensors) {
    Plan plan;
    plan.target = &target;
    for (const auto& tensor : tensors)
      plan.weights.push_back({"w", tensor->bytes(), std::shared_ptr<const std::byte>(tensor, tensor->data())});
    return plan;
  }
  std::vector<std::shared_ptr<gpu::Block>> uploaded(const Plan& plan) {
    auto blocks = upload_weights(plan, 0);
    EXPECT_TRUE(blocks) << blocks.error().message;
    return blocks ? *blocks : std::vector<std::shared_ptr<gpu::Block>>(plan.weights.size());
  }
  int allocations() const { return target.gpu->chores()[static_cast<size_t>(gpu::Chore::allocate)]; }
};

TEST_F(GpuWeights, OfTheSameMemoryShareOneUpload) {
  auto blocks = uploaded(plan_of({a, b, a}));
  EXPECT_EQ(blocks[0], blocks[2]);
  EXPECT_NE(blocks[0], blocks[1]);
  EXPECT_EQ(allocations(), 2);
  EXPECT_EQ(std::memcmp(gpu::device_pointer(blocks[0]->address()), a->data(), a->bytes()), 0);
  EXPECT_EQ(std::memcmp(gpu::device_pointer(blocks[1]->address()), b->data(), b->bytes()), 0);
}

TEST_F(GpuWeights, AreSharedWithPlansThatAreAlive) {
  auto first = uploaded(plan_of({a}));
  auto second = uploaded(plan_of({b, a}));
  EXPECT_EQ(second[1], first[0]);
  EXPECT_EQ(allocations(), 2);
}

TEST_F(GpuWeights, LeaveWithTheLastPlanThatHoldsThem) {
  uploaded(plan_of({a}));
  uploaded(plan_of({a}));
  EXPECT_EQ(allocations(), 2);
}

TEST_F(GpuWeights, AreRefusedBeforeAllocationIfTooLarge) {
  auto blocks = upload_weights(plan_of({a}), size_t{1} << 31);
  ASSERT_FALSE(blocks);
  EXPECT_THAT(blocks.error().message, ::testing::HasSubstr("not enough memory"));
  EXPECT_EQ(allocations(), 0);
}

}  // namespace
}  // namespace rung
