// Reads ModernBERT's config.json, in its present and its first form.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/modernbert_config.hpp"

#include <nlohmann/json.hpp>

#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

constexpr const char* kLocal = "sliding_attention";
constexpr const char* kGlobal = "full_attention";

// The present form lists the layers; the first one says how often one is global.
Result<std::vector<bool>> read_local_layers(const Config& config, int64_t layers) {
  std::vector<bool> is_local;
  if (!config.contains("layer_types")) {
    RUNG_TRY(int64_t every, config.get_int_or("global_attn_every_n_layers", {1, kLayerBounds.max}, 3));
    for (int64_t i = 0; i < layers; ++i) is_local.push_back(i % every != 0);
    return is_local;
  }
  const auto& list = config.json()["layer_types"];
  for (const auto& type : list) {
    if (!list.is_array() || (type != kLocal && type != kGlobal)) break;
    is_local.push_back(type == kLocal);
  }
  if (is_local.size() == static_cast<size_t>(layers)) return is_local;
  return fail("'{}': layer_types: wanted a list of '{}' or '{}' for each of {} layers", config.what(), kGlobal, kLocal,
              layers);
}

// The present form has an object for each kind of layer; the first one has a number.
Result<double> read_base(const Config& config, const char* kind, const char* first_form, double fallback) {
  constexpr double kLeast = 1.0, kMost = 1e12;
  if (config.contains("rope_scaling")) return fail("'{}': rope_scaling is not supported", config.what());
  if (!config.contains("rope_parameters")) {
    const auto number = config.json().find(first_form);
    if (number == config.json().end()) return fallback;
    return config.get_number(first_form, kLeast, kMost);
  }
  RUNG_TRY(Config kinds, config.get_object("rope_parameters"));
  if (!kinds.contains(kind)) return fallback;
  RUNG_TRY(Config rope, kinds.get_object(kind));
  RUNG_TRY(std::string type, rope.get_text_or("rope_type", "default"));
  if (type != "default")
    return fail("'{}': rope_type '{}' is not supported, only 'default'", rope.what(), type.substr(0, 60));
  return rope.get_number_or("rope_theta", kLeast, kMost, fallback);
}

}  // namespace

Result<ModernBertConfig> read_modernbert_config(const Config& config) {
  ConfigFields fields(config);
  ModernBertConfig c;
  c.layer.layers = fields.integer("num_hidden_layers", kLayerBounds);
  c.layer.width = fields.integer("hidden_size", kWidthBounds);
  c.layer.heads = fields.integer("num_attention_heads", kHeadBounds);
  c.layer.mlp = fields.integer("intermediate_size", kMlpBounds);
  c.layer.eps = static_cast<float>(fields.number("norm_eps", 0.0, 1.0, 1e-5));
  c.layer.activation = read_activation(fields, "hidden_activation", "gelu");
  c.layer.qkv_bias = fields.flag("attention_bias", false);
  c.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  c.positions = fields.integer("max_position_embeddings", kTokenBounds);
  c.window = fields.integer("local_attention", {0, 2 * kTokenBounds.max}, 128) / 2;
  c.norm_bias = fields.flag("norm_bias", false);
  c.mlp_bias = fields.flag("mlp_bias", false);
  c.decoder_bias = fields.flag("decoder_bias", true);
  c.head_bias = fields.flag("classifier_bias", false);
  c.head_activation = read_activation(fields, "classifier_activation", "gelu");
  c.is_tied = fields.flag("tie_word_embeddings", true);
  c.dtype = read_dtype(fields);
  const auto pooling = fields.text("classifier_pooling", "cls");
  c.pools_mean = pooling == "mean";
  if (!c.pools_mean && pooling != "cls")
    fields.mistake("classifier_pooling '{}' is not supported, only 'cls' and 'mean'", pooling.substr(0, 60));
  if (c.layer.width / c.layer.heads % 2 != 0)
    fields.mistake("hidden_size {} over {} heads is odd; rotary positions need pairs", c.layer.width, c.layer.heads);
  RUNG_CHECK(check_text_config(fields, c));
  RUNG_TRY(c.is_local, read_local_layers(config, c.layer.layers));
  RUNG_TRY(c.global_base, read_base(config, kGlobal, "global_rope_theta", c.global_base));
  RUNG_TRY(c.local_base, read_base(config, kLocal, "local_rope_theta", c.local_base));
  return c;
}

}  // namespace rung::huggingface
