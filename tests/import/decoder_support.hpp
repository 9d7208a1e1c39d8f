// Helpers for tests of decoder language models: their checkpoints, and texts in chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <filesystem>

#include "import/huggingface_support.hpp"

namespace rung {

inline std::string decoder_path(const std::string& name) { return test_data("checkpoints/" + name); }

// The checkpoints of whole language models: those with the published library's greedy tokens.
inline std::vector<std::string> decoder_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test_data("checkpoints")))
    if (std::filesystem::exists(entry.path() / "greedy.npz")) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

inline std::vector<int64_t> token_values(const Tensor& tokens) {
  const auto values = tokens.as<int64_t>();
  return {values.begin(), values.end()};
}

// One run's inputs: tokens, padded with zeros to the chunk.
inline NamedTensors run_of(const std::vector<int64_t>& tokens, int64_t chunk) {
  std::vector<int64_t> padded = tokens;
  padded.resize(static_cast<size_t>(chunk));
  return {{"input_ids", Tensor::of<int64_t>({1, chunk}, padded)},
          {"count", Tensor::of<int64_t>({1}, {static_cast<int64_t>(tokens.size())})}};
}

// A text in chunks of some sizes, one after another until the text ends.
inline std::vector<NamedTensors> in_chunks(const std::vector<int64_t>& text, const std::vector<size_t>& sizes,
                                           int64_t chunk) {
  std::vector<NamedTensors> runs;
  for (size_t at = 0, i = 0; at < text.size(); ++i) {
    const size_t size = std::min(sizes[i % sizes.size()], text.size() - at);
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(at);
    runs.push_back(run_of({from, from + static_cast<std::ptrdiff_t>(size)}, chunk));
    at += size;
  }
  return runs;
}

inline Tensor logits_row(const Tensor& logits, size_t row) {
  const auto width = static_cast<size_t>(logits.shape().back());
  const auto values = logits.as<float>().subspan(row * width, width);
  return Tensor::of<float>({1, logits.shape().back()}, {values.begin(), values.end()});
}

}  // namespace rung
