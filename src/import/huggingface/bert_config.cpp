// Reads BERT's config.json.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/bert_config.hpp"

#include "import/huggingface/config_fields.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

struct NamedActivation {
  const char* name;
  UnaryKind kind;
};
constexpr NamedActivation kActivations[] = {
    {"gelu", UnaryKind::gelu},          {"gelu_python", UnaryKind::gelu},
    {"gelu_new", UnaryKind::gelu_tanh}, {"gelu_pytorch_tanh", UnaryKind::gelu_tanh},
    {"relu", UnaryKind::relu},          {"silu", UnaryKind::silu},
    {"swish", UnaryKind::silu},
};

UnaryKind read_activation(ConfigFields& fields) {
  auto name = fields.text("hidden_act", "gelu");
  std::vector<const char*> known;
  for (const auto& row : kActivations) {
    if (name == row.name) return row.kind;
    known.push_back(row.name);
  }
  fields.mistake("hidden_act '{}' is not known; known: {}", name.substr(0, 60), fmt::join(known, ", "));
  return UnaryKind::gelu;
}

DType read_dtype(ConfigFields& fields) {
  auto name = fields.text(fields.first_present({"dtype", "torch_dtype"}), "float32");
  if (name == "float16") return DType::f16;
  return name == "bfloat16" ? DType::bf16 : DType::f32;
}

void check_variant(ConfigFields& fields) {
  if (auto kind = fields.text("position_embedding_type", "absolute"); kind != "absolute")
    fields.mistake("position_embedding_type '{}' is not supported, only 'absolute'", kind.substr(0, 60));
  if (fields.flag("is_decoder", false)) fields.mistake("is_decoder is true, only encoders are supported");
}

Status check_size(const BertConfig& c) {
  int64_t layer = 4 * c.width * c.width + 2 * c.width * c.mlp;
  int64_t tables = (c.vocabulary + c.positions + c.segments) * c.width;
  return check_parameter_count("config.json", c.layers * layer + tables + c.width * c.width);
}

}  // namespace

Result<BertConfig> read_bert_config(const Config& config) {
  ConfigFields fields(config);
  BertConfig c;
  c.layers = fields.integer("num_hidden_layers", kLayerBounds);
  c.width = fields.integer("hidden_size", kWidthBounds);
  c.heads = fields.integer("num_attention_heads", kHeadBounds);
  c.mlp = fields.integer("intermediate_size", kMlpBounds);
  c.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  c.positions = fields.integer("max_position_embeddings", kTokenBounds);
  c.segments = fields.integer("type_vocab_size", {1, 65536}, 2);
  c.eps = static_cast<float>(fields.number("layer_norm_eps", 0.0, 1.0, 1e-12));
  c.activation = read_activation(fields);
  c.dtype = read_dtype(fields);
  check_variant(fields);
  if (c.width % c.heads != 0)
    fields.mistake("hidden_size {} is not a multiple of num_attention_heads {}", c.width, c.heads);
  RUNG_CHECK(fields.status());
  RUNG_CHECK(check_size(c));
  return c;
}

}  // namespace rung::huggingface
