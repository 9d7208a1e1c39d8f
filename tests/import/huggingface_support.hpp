// Helpers for tests of importers: tensors from npz files, outputs by name, how far two tensors are apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "import/model.hpp"
#include "import/npz.hpp"
#include "ir/safetensors.hpp"
#include "ir/verify.hpp"
#include "reference/evaluate.hpp"
#include "support/temporary_directory.hpp"

namespace rung {

inline std::string test_data(const std::string& name) { return std::string(RUNG_TEST_DATA) + "/" + name; }

inline NamedTensors load_npz(const std::string& path) {
  auto read = read_npz(path);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : NamedTensors();
}

// A model whose graph passed the verifier; an empty one, and a failed test, otherwise.
inline Model import_verified(const std::string& path, const ImportOptions& options = {}) {
  auto model = import_model(path, options);
  EXPECT_TRUE(model) << model.error().message;
  if (!model) return {};
  Status verified = verify(model->graph);
  EXPECT_TRUE(verified) << verified.error().message;
  return std::move(*model);
}

inline std::string import_error(const std::string& path, const ImportOptions& options = {}) {
  auto model = import_model(path, options);
  return model ? "no error" : model.error().message;
}
inline std::string config_error(const std::string& json, const ImportOptions& options = {}) {
  auto model = import_config_text(json, options);
  return model ? "no error" : model.error().message;
}

inline NamedTensors run_reference(const Model& model, const NamedTensors& given) {
  auto inputs = complete_inputs(model, given);
  EXPECT_TRUE(inputs) << inputs.error().message;
  if (!inputs) return {};
  auto values = evaluate(model.graph, *inputs);
  EXPECT_TRUE(values) << values.error().message;
  NamedTensors named;
  for (size_t i = 0; values && i < values->size(); ++i) named.emplace(model.graph.outputs()[i].name, (*values)[i]);
  return named;
}

// A copy of a checkpoint directory's config.json and tensors. `edit` renames each tensor, and drops it by returning "".
inline void copy_model(const std::string& from, const TemporaryDirectory& to,
                       const std::function<std::string(const std::string& name)>& edit) {
  std::filesystem::copy_file(from + "/config.json", to / "config.json");
  auto file = Safetensors::open(from + "/model.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto& [name, entry] : (*file)->tensors()) {
    auto value = (*file)->load(name);
    ASSERT_TRUE(value) << value.error().message;
    if (auto renamed = edit(name); !renamed.empty()) tensors.emplace_back(renamed, *value);
  }
  Status written = write_safetensors(to / "model.safetensors", tensors, {});
  ASSERT_TRUE(written) << written.error().message;
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (auto at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
  return text;
}

// |a - b| / |b|; infinite where shapes or types differ, so that a comparison fails.
inline double relative_error(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.dtype() != DType::f32) return INFINITY;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    double x = a.as<float>()[i], y = b.as<float>()[i];
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return std::sqrt(difference / norm);
}

}  // namespace rung
