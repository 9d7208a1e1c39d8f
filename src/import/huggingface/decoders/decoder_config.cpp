// Reads the fields that decoders share.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_config.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

constexpr IntRange kDecoderPositions{1, 1 << 24};
constexpr const char* kSliding = "sliding_attention";
constexpr const char* kFull = "full_attention";

}  // namespace

int64_t DecoderConfig::parameters() const {
  const int64_t attention = width * head_width * 2 * (heads + key_heads);
  const int64_t tables = (vocabulary * (is_tied ? 1 : 2) + (rotary.columns() == 0 ? positions : 0)) * width;
  return static_cast<int64_t>(layers.size()) * (attention + 3 * width * mlp) + tables;
}

DecoderConfig read_decoder_fields(ConfigFields& fields, const DecoderFields& names) {
  DecoderConfig c;
  c.layers.resize(static_cast<size_t>(fields.integer(names.layers, kLayerBounds)));
  c.width = fields.integer(names.width, kWidthBounds);
  c.heads = fields.integer(names.heads, kHeadBounds, names.usual_heads);
  c.key_heads = fields.integer("num_key_value_heads", kHeadBounds, names.usual_key_heads.value_or(c.heads));
  c.head_width = fields.integer("head_dim", kWidthBounds, names.head_width > 0 ? names.head_width : c.width / c.heads);
  if (c.width % c.heads != 0 && names.head_width == 0 && !fields.has("head_dim"))
    fields.mistake("{} {} is not a multiple of {} {}", names.width, c.width, names.heads, c.heads);
  const auto usual_mlp = names.mlp_factor > 0 ? std::optional(names.mlp_factor * c.width) : std::nullopt;
  c.mlp = fields.integer(names.mlp, kMlpBounds, usual_mlp);
  c.vocabulary = fields.integer("vocab_size", kVocabularyBounds, names.usual_vocabulary);
  c.positions = fields.integer(names.positions, kDecoderPositions, names.usual_positions);
  c.eps = static_cast<float>(fields.number(names.eps, 0.0, 1.0, names.usual_eps));
  c.activation = read_activation(fields, names.activation, names.usual_activation);
  c.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.head_width)));
  c.is_tied = fields.flag("tie_word_embeddings", names.is_tied);
  c.dtype = read_dtype(fields);
  return c;
}

Status read_windows(const Config& config, DecoderConfig& c, const std::function<bool(size_t layer)>& slides) {
  const auto list = config.contains("layer_types") ? config.json()["layer_types"] : nlohmann::json();
  if (!list.is_null() && !(list.is_array() && list.size() == c.layers.size()))
    return fail("'{}': layer_types: wanted a list of '{}' or '{}' for each of {} layers", config.what(), kFull,
                kSliding, c.layers.size());
  for (size_t i = 0; i < c.layers.size(); ++i) {
    if (!list.is_null() && list[i] != kFull && list[i] != kSliding)
      return fail("'{}': layer_types[{}] is {}, wanted '{}' or '{}'", config.what(), i,
                  dump_json(list[i]).substr(0, 60), kFull, kSliding);
    if (!(list.is_null() ? slides(i) : list[i] == kSliding)) continue;
    RUNG_TRY(c.layers[i].window, config.get_int("sliding_window", kDecoderPositions));
  }
  return {};
}

Status read_common_window(const Config& config, DecoderConfig& c) {
  if (config.contains("layer_types"))
    return fail("'{}': layer_types is not supported: all layers of this architecture are of one kind", config.what());
  if (!config.contains("sliding_window")) return {};
  RUNG_TRY(int64_t window, config.get_int("sliding_window", kDecoderPositions));
  for (DecoderLayer& layer : c.layers) layer.window = window;
  return {};
}

void refuse_shared_heads(ConfigFields& fields, const DecoderConfig& c) {
  if (c.key_heads != c.heads)
    fields.mistake("num_key_value_heads {} is not supported: this architecture has {} heads of each kind", c.key_heads,
                   c.heads);
}

Status check_decoder_config(ConfigFields& fields, const DecoderConfig& c) {
  if (c.heads % c.key_heads != 0)
    fields.mistake("num_attention_heads {} is not a multiple of num_key_value_heads {}", c.heads, c.key_heads);
  for (const char* name : {"num_local_experts", "num_experts", "n_routed_experts"})
    if (fields.integer(name, {0, 1 << 20}, 0) > 1) fields.mistake("{}: mixtures of experts are not supported", name);
  if (fields.flag("add_cross_attention", false)) fields.mistake("add_cross_attention is true, which is not supported");
  if (fields.flag("use_bidirectional_attention", false))
    fields.mistake("use_bidirectional_attention is true, only causal decoders are supported");
  RUNG_CHECK(fields.status());
  return check_parameter_count("config.json", c.parameters());
}

}  // namespace rung::huggingface
