// Texts of many tokens: they take no memory token by token, and a seed decides them, however many steps a GPU makes at
// once.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "kernels/target.hpp"
#include "session/generation.hpp"
#include "support/longer_checkpoint.hpp"
#include "tasks/decoder.hpp"

namespace rung::tasks {
namespace {

class LongText : public testing::TestWithParam<const char*> {
 protected:
  Decoder open(const std::string& name, int64_t length, const char* device = "cpu") {
    const std::string to = longer_checkpoint(folder, name, length);
    auto decoder = open_decoder(
        {.model = {.path = to, .device = *parse_device(device), .threads = 1}, .length = length, .chunks = {1}});
    EXPECT_TRUE(decoder) << decoder.error().message;
    return std::move(*decoder);
  }
  // Makes that many tokens behind one, whatever ends a text.
  static Generation begin(Decoder decoder, int64_t most, int64_t steps) {
    auto shared = std::make_shared<Decoder>(std::move(decoder));
    EXPECT_TRUE(shared->take(std::vector<int64_t>{3}));
    auto sampler = Sampler::make(shared->vocabulary(), {.settings = {.temperature = 1.3f, .top_k = 20}, .seed = 5});
    EXPECT_TRUE(sampler);
    return {std::move(shared), std::move(*sampler), {.stops = {}, .most = most, .steps = steps}};
  }
  static std::vector<int64_t> text_of(Decoder decoder, int64_t most, int64_t steps) {
    Generation generation = begin(std::move(decoder), most, steps);
    std::vector<int64_t> text;
    for (auto token = generation.next(); token && *token; token = generation.next()) text.push_back(**token);
    EXPECT_EQ(static_cast<int64_t>(text.size()), most);
    return text;
  }

  TemporaryDirectory folder;
};

// Bytes that are allocated now. Resident pages would not do: they also tell what the allocator returned, and what it
// touches again, of the memory of tests that ran before in this process. 0: a sanitizer's allocator does not say.
double allocated_bytes() {
  const struct mallinfo2 memory = mallinfo2();
  return static_cast<double>(memory.uordblks + memory.hblkhd);
}

// The caches take all their memory before the first token; the text itself takes 8 bytes a token in each of its lists.
TEST_P(LongText, TakesNoMemoryTokenByToken) {
  constexpr double kMostGrowth = 512 << 10;  // bytes, of 9,000 tokens
  if (allocated_bytes() == 0) GTEST_SKIP() << "the allocator does not count what is in use";
  Generation generation = begin(open(GetParam(), 10'240), 10'000, 0);
  double early = 0;
  for (int made = 1; made <= 10'000; ++made) {
    const auto token = generation.next();
    ASSERT_TRUE(token && *token) << made;
    if (made == 1'000) early = allocated_bytes();
  }
  EXPECT_EQ(generation.decoder().length(), 10'001);
  const double growth = allocated_bytes() - early;
  RecordProperty("growth_bytes", static_cast<int>(growth));
  EXPECT_LT(growth, kMostGrowth);
}
// All of a text, and the last places of it alone.
INSTANTIATE_TEST_SUITE_P(Checkpoints, LongText, testing::Values("llama", "mistral"),
                         [](const auto& name) { return std::string(name.param); });

using SeededText = LongText;
TEST_F(SeededText, IsTheSameEachTime) {
  EXPECT_EQ(text_of(open("llama", 2'048), 2'000, 0), text_of(open("llama", 2'048), 2'000, 0));
}

TEST_F(SeededText, IsTheSameWhateverTheStepsEmulated) {
  constexpr const char* kDevice = "emu:gfx942";
  constexpr int64_t kTokens = 40;  // more than two graphs of 16 steps
  if (!open_target(*parse_device(kDevice))) GTEST_SKIP() << "no device " << kDevice;
  const std::vector<int64_t> wanted = text_of(open("llama", 64, kDevice), kTokens, 0);
  for (const int64_t steps : {1, 4, 16})
    EXPECT_EQ(text_of(open("llama", 64, kDevice), kTokens, steps), wanted) << steps;
}

}  // namespace
}  // namespace rung::tasks
