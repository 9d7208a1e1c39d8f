// Opens a decoder's weights, declares its inputs and writes it.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

#include <algorithm>

#include "import/huggingface/decoders/decoder_writer.hpp"
#include "import/huggingface/limits.hpp"
#include "ir/checked_shape.hpp"

namespace rung::huggingface {
namespace {

constexpr int64_t kUsualTokens = 128;  // of a text whose length nobody asked for

Status check_cache(const DecoderCache& cache, const DecoderConfig& c) {
  if (cache.length < 1 || cache.length > c.positions)
    return wrong_usage("a cache of {} tokens: wanted 1 to {} ({})", cache.length, c.positions, c.positions_field);
  if (cache.largest_chunk >= 1 && cache.largest_chunk <= cache.length) return {};
  return wrong_usage("chunks of up to {} tokens: wanted 1 to {}, which the cache holds", cache.largest_chunk,
                     cache.length);
}

// Checks the largest values of a run over tokens [B,S] and that many keys.
Status check_countable(const Shape& tokens, int64_t keys, const DecoderConfig& c, const char* input) {
  const int64_t widest = std::max({c.vocabulary, c.width, 2 * c.mlp, (c.heads + 2 * c.key_heads) * c.head_width});
  for (const Shape& made : {Shape{tokens[0], tokens[1], widest}, Shape{tokens[0], c.heads, tokens[1], keys}})
    if (!within_limits(made))
      return mismatch("shape {} for {}: a value of shape {} has more than {} elements", tokens, input, made,
                      kMaxElements);
  return {};
}

// `head`: how the tensors of the language head begin.
TensorNames tensor_names(const DecoderConfig& c, const DecoderNames& names, const std::string& head) {
  TensorNames out{.prefix = std::string(names.prefix),
                  .probe = fmt::format("{}.weight", names.embedding),
                  .probe_shape = {c.vocabulary, c.width},
                  .layers = std::string(names.layers),
                  .heads = {head},
                  .ignored = {"rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias",
                              ".attention.masked_bias"}};
  out.heads.insert(out.heads.end(), names.others.begin(), names.others.end());
  return out;
}

}  // namespace

Result<DecoderChunk> chunk_of(const ConfigSource& source, const DecoderConfig& c, const ChunkInput& input) {
  const DecoderCache& cache = source.options.cache;
  const bool remembers = cache.length != 0;
  if (remembers) RUNG_CHECK(check_cache(cache, c));
  const int64_t usual = remembers ? cache.largest_chunk : std::min(kUsualTokens, c.positions);
  const IntRange batch{1, remembers ? 1 : kBatchBounds.max}, tokens{1, remembers ? usual : c.positions};
  const Shape shape = requested_shape(source.options, input.name, {input.batch, usual});
  const auto is_in = [&](int axis, IntRange range) { return shape[axis] >= range.min && shape[axis] <= range.max; };
  if (shape.rank() != 2 || !is_in(0, batch) || !is_in(1, tokens))
    return mismatch("shape {} for {}: wanted [B,S] with B from 1 to {}, S from 1 to {} ({})", shape, input.name,
                    batch.max, tokens.max, remembers ? "the largest chunk" : c.positions_field);
  const int64_t keys = remembers ? cache.length : shape[1];
  RUNG_CHECK(check_made("a table of positions", keys, c.head_width));
  RUNG_CHECK(check_countable(shape, keys, c, input.name));
  return DecoderChunk{shape, cache, input.name};
}

Result<Model> import_decoder(const ConfigSource& source, Classes classes, const DecoderConfig& config,
                             const DecoderNames& names) {
  const std::string head = fmt::format("{}.", names.head);
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, tensor_names(config, names, head), config.dtype));
  RUNG_TRY(const DecoderChunk chunk, chunk_of(source, config));
  frame->model.stages = {{"embeddings", {std::string(names.embedding)}},
                         {"layers", {std::string(names.layers)}},
                         {"head", {std::string(names.norm), std::string(names.head)}}};
  frame->model.positions = config.positions;
  TokenHistory history(*frame, config, chunk);
  DecoderWriter writer(*frame, config, names, history);
  const NodeId hidden = writer.hidden();
  if (frame->head() == Head::causal_lm)
    frame->output("logits", history.by_token(writer.logits(hidden)));
  else
    frame->output("last_hidden_state", history.by_token(hidden));
  history.write_states();
  return frame->finish();
}

}  // namespace rung::huggingface
