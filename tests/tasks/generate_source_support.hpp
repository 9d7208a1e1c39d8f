// The checkpoints of encoder-decoders, with the texts that the published library makes about their sources.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "import/npz.hpp"
#include "open/open_model.hpp"
#include "tasks/generate.hpp"

namespace rung::tasks {

inline constexpr int64_t kEndOfText = 39;  // ends a text, as the checkpoints' files say

inline std::vector<std::string> source_checkpoints() {
  return {"t5", "t5_gated", "whisper", "bart", "mbart", "marian", "pegasus", "m2m_100"};
}

inline std::string source_checkpoint(const std::string& name) {
  return std::string(RUNG_TEST_DATA) + "/checkpoints/" + name;
}

inline NamedTensors arrays_of(const std::string& name) {
  const auto arrays = read_npz(source_checkpoint(name) + "/generated.npz");
  EXPECT_TRUE(arrays) << arrays.error().message;
  return *arrays;
}

// Returns the inputs of the checkpoint's text number `index`.
inline NamedTensors inputs_of(const NamedTensors& arrays, int index) {
  NamedTensors inputs;
  for (const char* name : {"input_ids", "input_features", "decoder_input_ids"})
    if (const auto found = arrays.find(fmt::format("{}.{}", name, index)); found != arrays.end())
      inputs.emplace(name, found->second);
  return inputs;
}

inline GenerateTask task_of(const std::string& path, const NamedTensors& inputs) {
  GenerateTask task{.model = {.path = path, .threads = 1}, .options = {.most = 64}};
  task.options.sampling = {.temperature = 0, .repetition_penalty = 6};
  task.model.inputs = given_arrays(inputs);
  return task;
}

// The library was told to go on behind the token that ends a text.
inline std::vector<int64_t> wanted_tokens(const NamedTensors& arrays, int index) {
  const auto values = arrays.at(fmt::format("tokens.{}", index)).as<int64_t>();
  std::vector<int64_t> tokens(values.begin(), values.end());
  if (const auto end = std::ranges::find(tokens, kEndOfText); end != tokens.end()) tokens.erase(end + 1, tokens.end());
  return tokens;
}

inline bool has_device(const std::string& device) { return open_target(*parse_device(device)).has_value(); }

// Compares the tokens of actions that a Pi0-FAST policy makes of its images and its prompt.
inline void expect_tokens_of_actions(const std::string& device, int64_t steps) {
  if (!has_device(device)) GTEST_SKIP() << "no device " << device;
  const std::string directory = std::string(RUNG_TEST_DATA) + "/pi0_fast_tiny";
  const Tensor all = read_npz(directory + "/outputs.npz")->at("tokens");
  const auto wanted = all.as<int64_t>();
  GenerateTask task{.model = {.path = directory, .device = *parse_device(device), .threads = 1},
                    .options = {.most = static_cast<int64_t>(wanted.size())}};
  task.options.sampling.temperature = 0, task.options.steps = steps;
  task.model.inputs = given_arrays(*read_npz(directory + "/inputs.npz"));
  const auto made = generate(task);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->tokens, std::vector<int64_t>(wanted.begin(), wanted.end()));
}

}  // namespace rung::tasks
