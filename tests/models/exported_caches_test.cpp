// Exported decoders with their caches: a text, token by token, gives what PyTorch gives for all of it at once.
// SPDX-License-Identifier: Apache-2.0
#include "import/decoder_support.hpp"
#include "plan/support.hpp"
#include "session/decoder.hpp"
#include "tasks/generate.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kPlaces = 24;
constexpr double kTolerance = 1e-6;  // as far as two orders of the same sums differ

std::string cache_file(const std::string& name) { return test_data("exported/caches/" + name); }
NamedTensors text() { return load_npz(cache_file("text.npz")); }

class WrittenBuffers : public ::testing::TestWithParam<std::string> {
 protected:
  Model model() const {
    return import_verified(cache_file(GetParam()),
                           {.given = {{"input_ids", Shape{1, 1}}, {"cache_position", Shape{1}}}});
  }
};
INSTANTIATE_TEST_SUITE_P(Programs, WrittenBuffers, ::testing::Values("static.pt2", "static_decomposed.pt2"),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

TEST_P(WrittenBuffers, AreKeptFromRunToRun) {
  const NamedTensors wanted = text();
  const auto tokens = wanted.at("input_ids").as<int64_t>();
  Session session = session_over(plan_of(model().graph, all_passes()));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto outputs = session.infer({{"input_ids", Tensor::of<int64_t>({1, 1}, {tokens[i]})},
                                          {"cache_position", Tensor::of<int64_t>({1}, {static_cast<int64_t>(i)})}});
      ASSERT_TRUE(outputs) << outputs.error().message;
      ASSERT_EQ(outputs->size(), 1u) << "states are no caller's";
      const Tensor row = logits_row(outputs->front().second, 0);
      EXPECT_LE(relative_error(row, logits_row(wanted.at("logits"), i)), kTolerance) << i;
    }
    ASSERT_TRUE(session.reset_states());
  }
}

// The rows of a token are written where they are kept: no step copies a cache.
TEST_P(WrittenBuffers, AreUpdatedInPlace) {
  const Model imported = model();
  EXPECT_EQ(imported.graph.states().size(), 4u);
  for (const std::string& kernel : kernels_of(plan_of(imported.graph, all_passes())))
    EXPECT_FALSE(kernel.starts_with("copy") || kernel.starts_with("concat")) << kernel;
}

TEST(WrittenBuffersOf, AProgramTakeNoCache) {
  EXPECT_THAT(import_error(cache_file("static.pt2"), {.cache = {.length = 8}}),
              HasSubstr("a cache of 8 tokens: the buffers of an exported program have the sizes"));
}

Plan growing_plan(int64_t length) {
  return plan_of(import_verified(cache_file("growing.onnx"), {.cache = {.length = length}}).graph, all_passes());
}

TEST(GrowingCaches, AreStatesOfFixedSize) {
  const NamedTensors wanted = text();
  const auto tokens = wanted.at("input_ids").as<int64_t>();
  auto set = PlanSet::make({growing_plan(kPlaces)});
  ASSERT_TRUE(set) << set.error().message;
  auto decoder = Decoder::create(*set);
  ASSERT_TRUE(decoder) << decoder.error().message;
  EXPECT_EQ(decoder->most_tokens(), kPlaces);
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Status taken = decoder->take({&tokens[i], 1});
      ASSERT_TRUE(taken) << taken.error().message;
      EXPECT_LE(relative_error(*decoder->logits(), logits_row(wanted.at("logits"), i)), kTolerance) << i;
    }
    ASSERT_TRUE(decoder->truncate(0));
  }
}

TEST(GrowingCaches, AreUpdatedInPlace) {
  for (const std::string& kernel : kernels_of(growing_plan(kPlaces)))
    EXPECT_FALSE(kernel.starts_with("copy") || kernel.starts_with("concat")) << kernel;
}

TEST(GrowingCaches, StayInputsWithoutALength) {
  ImportOptions options;
  for (const auto& [name, size] : {std::pair{"batch_size", 1},
                                   {"sequence_length", 2},
                                   {"past_sequence_length", 3},
                                   {"past_sequence_length + sequence_length", 5}})
    options.shapes[name] = Shape{size};
  const Model model = import_verified(cache_file("growing.onnx"), options);
  EXPECT_TRUE(model.graph.states().empty());
  EXPECT_TRUE(model.defaults.contains("past_key_values.1.value"));
}

TEST(GrowingCaches, MakeATextOfGreedyTokens) {
  const auto tokens = [](const std::vector<int64_t>& prompt, int64_t most) {
    tasks::GenerateTask task{.model = {.path = cache_file("growing.onnx"), .threads = 1}, .options = {.most = most}};
    task.options.sampling.temperature = 0;
    task.model.inputs =
        given_arrays({{"input_ids", Tensor::of<int64_t>({1, static_cast<int64_t>(prompt.size())}, prompt)}});
    const auto made = tasks::generate(task);
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->tokens : std::vector<int64_t>();
  };
  const std::vector<int64_t> whole = tokens({3, 7, 11}, 6);
  ASSERT_EQ(whole.size(), 6u);
  const std::vector<int64_t> rest = tokens({3, 7, 11, whole[0], whole[1]}, 4);
  EXPECT_EQ(rest, std::vector<int64_t>(whole.begin() + 2, whole.end()));
}

}  // namespace
}  // namespace rung
