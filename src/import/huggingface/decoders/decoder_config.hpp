// A decoder language model as plain data: its sizes, what its layers are made of, and the names of its modules.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "import/huggingface/activation.hpp"
#include "import/huggingface/decoders/rotary_config.hpp"

namespace rung::huggingface {

enum class NormKind {
  rms,         // x / rms(x) * weight
  rms_offset,  // x / rms(x) * (1 + weight)
  layer,       // with a bias
};

// The norm of queries and keys before they rotate. own: each head has weights of its own, and no bias.
enum class HeadNorm { none, each_head, all_heads, own };

// The rows of one tensor that has queries, keys and values.
enum class FusedRows { in_order, by_head };  // by_head: each head's query, key and value; as many heads of each

struct DecoderLayer {
  int64_t window = 0;     // a token reads this many tokens, of which it is the last; 0: all before it
  bool is_local = false;  // rotates by the local frequencies
  bool rotates = true;
};

struct DecoderConfig {
  int64_t width = 0, heads = 0, key_heads = 0, head_width = 0, mlp = 0, vocabulary = 0, positions = 0;
  const char* positions_field = "max_position_embeddings";  // of the config, for errors
  std::vector<DecoderLayer> layers;
  DType dtype = DType::f32;  // of a random checkpoint

  NormKind norm = NormKind::rms;
  float eps = 1e-6f;
  HeadNorm head_norm = HeadNorm::none;
  Activation activation{};
  FusedRows fused_rows = FusedRows::in_order;
  bool qkv_bias = false, out_bias = false, mlp_bias = false, decoder_bias = false;
  bool is_parallel = false;        // attention and MLP read one x, and both results are added to it
  bool stores_transposed = false;  // weights of products are [in,out]
  bool is_tied = false;            // a language head's decoder is the embedding table

  RotaryFrequencies rotary, local_rotary;  // no columns: positions are rows of a table, added to the embeddings
  float attention_scale = 1, attention_cap = 0;
  double embedding_scale = 1;
  bool rounds_embedding_scale = false;  // to the model's type, before it multiplies
  double residual_scale = 1;            // of what attention and MLP add
  double logit_scale = 1, logit_cap = 0;

  int64_t parameters() const;
};

// The names of a decoder's modules; empty: it has none of that kind. Those of products and norms of heads are within
// `attention` and `mlp`.
struct DecoderNames {
  std::string_view prefix = "model", embedding = "embed_tokens", positions, layers = "layers", norm = "norm";
  std::string_view head = "lm_head";
  std::vector<std::string_view> others;  // how tensors begin that belong to other parts of a larger model
  std::string_view attention_norm = "input_layernorm", after_attention;
  std::string_view mlp_norm = "post_attention_layernorm", after_mlp;
  std::string_view attention = "self_attn", query = "q_proj", key = "k_proj", value = "v_proj", qkv, out = "o_proj";
  std::string_view query_norm = "q_norm", key_norm = "k_norm";
  std::string_view mlp = "mlp", gate = "gate_proj", up = "up_proj", gate_up, activation = "act_fn", down = "down_proj";
};

// Llama's fields have other names or values if they are left out in some architectures.
struct DecoderFields {
  const char *layers = "num_hidden_layers", *width = "hidden_size", *heads = "num_attention_heads";
  const char *mlp = "intermediate_size", *positions = "max_position_embeddings", *eps = "rms_norm_eps";
  const char* activation = "hidden_act";
  const char* usual_activation = "silu";
  double usual_eps = 1e-6;
  int64_t head_width = 0;  // if head_dim is left out; 0: the width over the heads
  int64_t mlp_factor = 0;  // the MLP's size over the width if it is left out; 0: it must be given
  bool is_tied = false;
  std::optional<int64_t> usual_heads, usual_key_heads, usual_vocabulary, usual_positions;  // none: must be given
};

// Reads sizes, norms, the activation and types; what remains has its defaults.
DecoderConfig read_decoder_fields(ConfigFields& fields, const DecoderFields& names = {});
// Gives all layers that slide a window of `sliding_window` tokens. Those are listed by `layer_types`, or, where it is
// left out, chosen by `slides`. Errors: kinds of layers that are not known.
Status read_windows(const Config& config, DecoderConfig& c, const std::function<bool(size_t layer)>& slides);
// Gives all layers the window of `sliding_window`, if the config has one. Errors: a list of kinds of layers, which
// these architectures do not have.
Status read_common_window(const Config& config, DecoderConfig& c);
// Refuses query heads that share key heads, for architectures that cannot have them.
void refuse_shared_heads(ConfigFields& fields, const DecoderConfig& c);
// Checks sizes against each other, and the number of parameters.
Status check_decoder_config(ConfigFields& fields, const DecoderConfig& c);

}  // namespace rung::huggingface
