// Finds heads by the class that the model was saved from, and by tensors outside the encoder.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/bert_head.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

namespace rung::huggingface {
namespace {

// Returns the class that the model was saved from, if that is more than the encoder.
std::string class_with_head(const Config& config) {
  auto list = config.json().find("architectures");
  if (list == config.json().end() || !list->is_array() || list->empty() || !list->front().is_string()) return "";
  const auto name = list->front().get<std::string>();
  return name == "BertModel" ? "" : name.substr(0, 60);
}

bool begins_with_any(const std::string& tensor, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return tensor.starts_with(prefix); });
}

}  // namespace

bool is_of_head(const std::string& tensor, const std::string& root) {
  if (!root.empty()) return !tensor.starts_with(root + ".");
  return !begins_with_any(tensor, {"embeddings.", "encoder.", "pooler."});
}

bool is_of_known_head(const std::string& tensor) {
  return begins_with_any(tensor, {"cls.", "classifier.", "qa_outputs."});
}

Status refuse_head(const ConfigSource& source, const Checkpoint& checkpoint, const std::string& root) {
  std::vector<std::string> tensors;
  for (const auto& name : checkpoint.names())
    if (is_of_head(name, root)) tensors.push_back(name);
  const std::string saved_from = class_with_head(source.config);
  if (tensors.empty() && saved_from.empty()) return {};
  constexpr size_t kShown = 3;
  std::string shown = tensors.empty() ? "" : ": ";
  for (size_t i = 0; i < std::min(kShown, tensors.size()); ++i) shown += (i ? ", " : "") + tensors[i];
  if (tensors.size() > kShown) shown += fmt::format(" and {} more", tensors.size() - kShown);
  return fail(
      "'{}': {} has a head, which is not supported yet{}; --drop-head (drop_head in Python and C) runs the encoder "
      "without it",
      source.config.what(), saved_from.empty() ? "the checkpoint" : saved_from, shown);
}

}  // namespace rung::huggingface
