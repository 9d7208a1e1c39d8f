// The length of texts, out of a model's files without its weights.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/text_limit.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_directory.hpp"

namespace rung::tasks {
namespace {

const std::string kModelFolder = std::string(RUNG_TEST_DATA) + "/checkpoints/";

TEST(TextLimit, IsReadWithoutWeights) {
  const TemporaryDirectory folder;
  std::filesystem::copy_file(kModelFolder + "llama/config.json", folder / "config.json");
  const auto limit = text_limit_of({.path = folder.path()});
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->positions, 32);
  EXPECT_EQ(limit->architecture, "llama");
}

TEST(TextLimit, IsNoneWithoutADecoder) {
  const auto limit = text_limit_of({.path = kModelFolder + "vit"});
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->positions, 0);
  EXPECT_EQ(limit->architecture, "vit");
}

TEST(TextLimit, WantsAKnownModel) {
  const auto limit = text_limit_of({.path = "/no/such/model"});
  ASSERT_FALSE(limit);
  EXPECT_EQ(limit.error().message.find("'/no/such/model'"), 0u) << limit.error().message;
}

}  // namespace
}  // namespace rung::tasks
