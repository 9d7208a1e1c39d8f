// Texts about a source on GPUs: the encoder runs once, and the device makes the published library's tokens, with those
// that the model's files start with and ban.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate_source_support.hpp"
#include "support/gpu_word.hpp"

namespace rung::tasks {
namespace {

using testing::ElementsAreArray;

constexpr int64_t kMostOnGpu = 10;

// The device makes up to that many tokens before it is asked for them; 0: the host chooses each.
void expect_the_librarys_texts(const std::string& device, const std::string& name, std::initializer_list<int> texts,
                               std::initializer_list<int64_t> steps) {
  if (!has_device(device)) GTEST_SKIP() << "no device " << device;
  const NamedTensors arrays = arrays_of(name);
  for (const int index : texts)
    for (const int64_t each : steps) {
      GenerateTask task = task_of(source_checkpoint(name), inputs_of(arrays, index));
      task.model.device = *parse_device(device);
      task.options.most = kMostOnGpu, task.options.steps = each;
      const auto made = generate(task);
      ASSERT_TRUE(made) << made.error().message;
      auto wanted = wanted_tokens(arrays, index);
      wanted.resize(std::min<size_t>(wanted.size(), kMostOnGpu));
      EXPECT_THAT(made->tokens, ElementsAreArray(wanted)) << index << ", " << each << " steps";
    }
}

class GenerateAboutASourceOn : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Checkpoints, GenerateAboutASourceOn, testing::ValuesIn(source_checkpoints()),
                         [](const auto& name) { return name.param; });
TEST_P(GenerateAboutASourceOn, Gpu) { expect_the_librarys_texts(gpu_word(), GetParam(), {0, 1, 2}, {0, 1, 16}); }
TEST_P(GenerateAboutASourceOn, Emulated) { expect_the_librarys_texts("emu:gfx942", GetParam(), {2}, {4}); }

// The first choice is the host's, and bans that bind it alone do not bind the device's.
TEST(GenerateAboutASourceOn, TheHostChoosesToo) { expect_the_librarys_texts("emu:gfx942", "whisper", {0}, {0}); }

TEST(GenerateActionsOn, Gpu) { expect_tokens_of_actions(gpu_word(), 16); }
TEST(GenerateActionsOn, Emulated) { expect_tokens_of_actions("emu:gfx942", 4); }

}  // namespace
}  // namespace rung::tasks
