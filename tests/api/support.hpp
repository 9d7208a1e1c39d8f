// A sentence encoder small enough for the repository: its known inputs, and a copy with a vocabulary of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "import/npz.hpp"
#include "rung/rung.hpp"
#include "support/temporary_directory.hpp"

namespace rung {

inline const std::string kModel = std::string(RUNG_TEST_DATA) + "/bert_tiny";
inline const api::Options kOptions{.threads = 1, .shapes = {{"input_ids", {1, 9}}}};

// What kModel was given when its known outputs were made.
inline api::Tensors known_inputs() {
  auto arrays = read_npz(kModel + "/inputs.npz");
  EXPECT_TRUE(arrays);
  api::Tensors inputs;
  for (const auto& [name, tensor] : *arrays)
    inputs[name] = api::Tensor::of<int64_t>({tensor.shape().begin(), tensor.shape().end()}, tensor.as<int64_t>());
  return inputs;
}

// A session of what that path names. A test cannot go on without it.
inline api::Session session_of(const std::string& path, const api::Options& options = {}) {
  auto model = api::Model::open(path, options);
  if (!model) throw std::runtime_error(model.error().message());
  auto session = model->session();
  if (!session) throw std::runtime_error(session.error().message());
  return std::move(*session);
}

// Why it cannot be opened.
inline std::string refusal(const std::string& path, const api::Options& options = {}) {
  return api::Model::open(path, options).error().message();
}

inline api::Tensors encoded(const api::Session& session, const std::string& text) {
  auto inputs = session.model().encode(text);
  if (!inputs) throw std::runtime_error(inputs.error().message());
  return *inputs;
}

// The words "a" to "z" stand for themselves.
inline void make_encoder(const TemporaryDirectory& directory) {
  std::filesystem::copy(kModel, directory.path(), std::filesystem::copy_options::recursive);
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary += std::string(1, letter) + "\n";
  directory.write("vocab.txt", vocabulary);
}

}  // namespace rung
