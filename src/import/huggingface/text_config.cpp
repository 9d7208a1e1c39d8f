// Reads config.json of BERT and of the architectures that took over its names.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/text_config.hpp"

#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

TextConfig read_fields(ConfigFields& fields) {
  TextConfig c;
  c.layer.layers = fields.integer("num_hidden_layers", kLayerBounds);
  c.layer.width = fields.integer("hidden_size", kWidthBounds);
  c.layer.heads = fields.integer("num_attention_heads", kHeadBounds);
  c.layer.mlp = fields.integer("intermediate_size", kMlpBounds);
  c.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  c.positions = fields.integer("max_position_embeddings", kTokenBounds);
  c.layer.eps = static_cast<float>(fields.number("layer_norm_eps", 0.0, 1.0, 1e-12));
  c.layer.activation = read_activation(fields, "hidden_act", "gelu");
  c.dtype = read_dtype(fields);
  c.is_tied = fields.flag("tie_word_embeddings", true);
  if (auto kind = fields.text("position_embedding_type", "absolute"); kind != "absolute")
    fields.mistake("position_embedding_type '{}' is not supported, only 'absolute'", kind.substr(0, 60));
  for (const char* name : {"is_decoder", "add_cross_attention"})
    if (fields.flag(name, false)) fields.mistake("{} is true, only encoders are supported", name);
  return c;
}

}  // namespace

Status check_text_config(ConfigFields& fields, const TextConfig& config) {
  const LayerConfig& layer = config.layer;
  if (layer.width % layer.heads != 0)
    fields.mistake("hidden_size {} is not a multiple of num_attention_heads {}", layer.width, layer.heads);
  RUNG_CHECK(fields.status());
  const int64_t tables = (config.vocabulary + config.positions + config.segments) * layer.width;
  return check_parameter_count("config.json", layer.parameters() + tables + layer.width * layer.width);
}

Result<TextConfig> read_bert_config(const Config& config) {
  ConfigFields fields(config);
  TextConfig c = read_fields(fields);
  c.segments = fields.integer("type_vocab_size", {1, 65536}, 2);
  RUNG_CHECK(check_text_config(fields, c));
  return c;
}

Result<TextConfig> read_mpnet_config(const Config& config) {
  ConfigFields fields(config);
  TextConfig c = read_fields(fields);
  RUNG_CHECK(check_text_config(fields, c));
  return c;
}

}  // namespace rung::huggingface
