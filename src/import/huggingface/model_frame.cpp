// Tells the head by the class that the model was saved from, and checks it against the tensors.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/model_frame.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "import/huggingface/config_fields.hpp"

namespace rung::huggingface {
namespace {

constexpr IntRange kLabelBounds{1, 1 << 20};
constexpr const char* kDropHint = "--drop-head (drop_head in Python and C) runs the encoder without its head";

// Returns the class that the model was saved from; empty: config.json does not say.
std::string saved_class(const Config& config) {
  auto list = config.json().find("architectures");
  if (list == config.json().end() || !list->is_array() || list->empty() || !list->front().is_string()) return "";
  return list->front().get<std::string>().substr(0, 60);
}

// Returns as many as `id2label` names, else num_labels, else the published library's default.
Result<int64_t> label_count(const Config& config) {
  if (!config.contains("id2label")) return config.get_int_or("num_labels", kLabelBounds, 2);
  RUNG_TRY(Config names, config.get_object("id2label"));
  const auto count = static_cast<int64_t>(names.json().size());
  if (count >= kLabelBounds.min && count <= kLabelBounds.max) return count;
  return fail("'{}': id2label has {} labels, wanted {} to {}", config.what(), count, kLabelBounds.min,
              kLabelBounds.max);
}

// Refuses fields that change what every architecture means.
Status check_common(const Config& config, bool has_decoder) {
  if (config.contains("quantization_config"))
    return fail("'{}': quantization_config is not supported, wanted weights in f32, f16 or bf16", config.what());
  RUNG_TRY(bool decodes, config.get_bool_or("is_encoder_decoder", false));
  if (decodes && !has_decoder)
    return fail("'{}': is_encoder_decoder is true, only encoders are supported", config.what());
  if (auto pruned = config.json().find("pruned_heads"); pruned != config.json().end() && !pruned->empty())
    return fail("'{}': pruned_heads is not supported", config.what());
  return {};
}

std::vector<Stage> stages_of(const TensorNames& names) {
  Stage head{"head", {"similarity"}};
  for (const std::string_view begin : names.heads) head.scopes.emplace_back(begin.substr(0, begin.size() - 1));
  return {{"embeddings", {"embeddings", "*.embeddings"}},
          {"layers", {names.layers}},
          {"pooling", {"pooling", "normalize", "pooler"}},
          head};
}

}  // namespace

Result<Head> head_of(const ConfigSource& source, Classes classes) {
  const std::string name = saved_class(source.config);
  if (name.empty() || source.options.drop_head) return Head::none;
  std::vector<std::string_view> known;
  for (const ModelClass& row : classes) {
    if (row.name == name) return row.head;
    known.push_back(row.name);
  }
  return fail("'{}': {} has a head, which is not supported yet (supported: {}); {}", source.config.what(), name,
              fmt::join(known, ", "), kDropHint);
}

std::string root_of(const Checkpoint& checkpoint, const std::string& prefix, const std::string& probe) {
  return !checkpoint.contains(probe) && checkpoint.contains(prefix + "." + probe) ? prefix : "";
}

ModelFrame::ModelFrame(std::unique_ptr<Checkpoint> checkpoint, TensorNames names)
    : builder(model.graph, *checkpoint),
      checkpoint_(std::move(checkpoint)),
      names_(std::move(names)),
      encoder_{root_of(*checkpoint_, names_.prefix, names_.probe), ""} {}

Result<std::unique_ptr<ModelFrame>> ModelFrame::open(const ConfigSource& source, Classes classes, TensorNames names,
                                                     DType usual, bool encoder_only) {
  RUNG_CHECK(check_common(source.config, names.has_decoder));
  const bool drops = encoder_only || source.options.drop_head;
  Head head = Head::none;
  if (!encoder_only) {
    RUNG_TRY(head, head_of(source, classes));
  }
  RUNG_TRY(int64_t labels, label_count(source.config));
  RUNG_TRY(auto checkpoint, open_weights(source, usual));
  std::unique_ptr<ModelFrame> frame(new ModelFrame(std::move(checkpoint), std::move(names)));
  frame->class_ = saved_class(source.config);
  frame->head_ = head;
  frame->drops_head_ = drops;
  frame->labels_ = labels;
  frame->model.directory = source.directory;
  frame->model.stages = stages_of(frame->names_);
  const DType stored = frame->builder.stored_dtype(frame->probe(), frame->names_.probe_shape);
  frame->dtype_ = source.options.dtype.value_or(stored);
  if (head == Head::none && !drops) RUNG_CHECK(frame->refuse_head(source.config.what()));
  return frame;
}

// A part of a class with a head may lie beside the encoder, as a decoder does, under the prefix of both.
bool ModelFrame::begins_as_head(std::string_view tensor) const {
  const std::string root = encoder_.tensors + ".";
  const std::string_view within = tensor.starts_with(root) ? tensor.substr(root.size()) : tensor;
  return std::ranges::any_of(
      names_.heads, [&](std::string_view head) { return tensor.starts_with(head) || within.starts_with(head); });
}

bool ModelFrame::is_of_head(const std::string& tensor) const {
  const bool is_outside = !encoder_.tensors.empty() && !tensor.starts_with(encoder_.tensors + ".");
  return is_outside || begins_as_head(tensor);
}

Status ModelFrame::refuse_head(const std::string& where) const {
  std::vector<std::string> tensors;
  for (const auto& name : checkpoint_->names())
    if (is_of_head(name)) tensors.push_back(name);
  if (tensors.empty()) return {};
  constexpr size_t kShown = 3;
  const size_t more = tensors.size() - std::min(kShown, tensors.size());
  tensors.resize(tensors.size() - more);
  return fail("'{}': the checkpoint has a head that no class in `architectures` names: {}{}; {}", where,
              fmt::join(tensors, ", "), more > 0 ? fmt::format(" and {} more", more) : "", kDropHint);
}

std::string ModelFrame::decoder_weight(const std::string& own, bool is_tied) const {
  // A random checkpoint has every name, but knows no type.
  return !is_tied || checkpoint_->type(own).has_value() ? own : probe();
}

void ModelFrame::output(const std::string& name, NodeId value) {
  model.graph.set_output(name, builder.cast(value, DType::f32, name));
}

void ModelFrame::classify(const Module& classifier, NodeId x) {
  output("logits", builder.linear(classifier, x, labels_));
}

Result<Model> ModelFrame::finish() {
  const auto may_ignore = [&](const std::string& name) {
    const auto ends = [&](std::string_view buffer) { return name.ends_with(buffer); };
    if (std::ranges::any_of(names_.ignored, ends)) return true;
    return drops_head_ ? is_of_head(name) : head_ != Head::none && begins_as_head(name);
  };
  auto notes = builder.finish(may_ignore);
  if (!notes && head_ != Head::none) return fail("{}: {}; {}", class_, notes.error().message, kDropHint);
  RUNG_TRY(model.notes, std::move(notes));
  return std::move(model);
}

}  // namespace rung::huggingface
