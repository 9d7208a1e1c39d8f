// Opening a device by name, and what is said when it cannot be.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/target.hpp"

#include <gmock/gmock.h>

#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(Target, OfTheProcessorIsThereByName) {
  auto target = open_target("cpu");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, &cpu_target());
  EXPECT_EQ((*target)->gpu, nullptr);
}

TEST(Target, RefusesWordsThatNameNoDevice) {
  for (const char* word : {"",      "gpu",     "cuda:",      "cuda:x",      "cuda:-",
                           "cuda0", "cuda:1x", "CUDA",       "cuda:-1",     "cuda:99999999999",
                           "hip:",  "hip:x",   "hip0",       "hip:-1",      "rocm",
                           "emu",   "emu:",    "emu:gfx90a", "emu:gfx1100", "emu:gfx942:0"}) {
    auto target = open_target(word);
    ASSERT_FALSE(target) << word;
    EXPECT_EQ(target.error().kind, ErrorKind::usage) << word;
    EXPECT_THAT(target.error().message,
                HasSubstr("wanted cpu, cuda, cuda:NUMBER, hip, hip:NUMBER or one of emu:gfx942, emu:gfx950"))
        << word;
    EXPECT_THAT(target.error().message, ::testing::Not(HasSubstr("--"))) << "not everyone has a command line";
  }
}

TEST(Target, SaysWhatAMachineWithoutAGpuLacks) {
  auto target = open_target("cuda");
  if (target) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(target.error().message,
              AnyOf(HasSubstr("no CUDA driver"), HasSubstr("sees no device"), HasSubstr("no GPU kernels")));
}

TEST(GpuTarget, RefusesANumberTheMachineDoesNotHave) {
  if (auto target = open_target(gpu_word()); !target) GTEST_SKIP() << target.error().message;
  auto target = open_target(gpu_word() + ":99");
  ASSERT_FALSE(target);
  EXPECT_THAT(target.error().message, HasSubstr("no " + gpu_word() + " device 99"));
}

}  // namespace
}  // namespace rung
