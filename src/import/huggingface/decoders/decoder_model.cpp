// Opens a decoder's weights, declares its inputs and writes it.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_model.hpp"

#include "import/huggingface/decoders/decoder_writer.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

constexpr int64_t kUsualTokens = 128;  // of a text whose length nobody asked for

Result<Shape> chunk_shape(const ConfigSource& source, const DecoderConfig& c) {
  const Shape usual{1, std::min(kUsualTokens, c.positions)};
  const Shape shape = requested_shape(source.options, "input_ids", usual);
  const auto within = [&](int axis, int64_t most) { return shape[axis] >= 1 && shape[axis] <= most; };
  if (shape.rank() == 2 && within(0, kBatchBounds.max) && within(1, c.positions)) {
    RUNG_CHECK(check_made("a table of positions", shape[1], c.head_width));
    return shape;
  }
  return mismatch("shape {} for input_ids: wanted [B,S] with B from 1 to {}, S from 1 to {} (max_position_embeddings)",
                  shape, kBatchBounds.max, c.positions);
}

TensorNames tensor_names(const DecoderConfig& c, const DecoderNames& names) {
  return {.prefix = std::string(names.prefix),
          .probe = fmt::format("{}.weight", names.embedding),
          .probe_shape = {c.vocabulary, c.width},
          .layers = std::string(names.layers),
          .heads = {names.head_tensors},
          .ignored = {"rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias",
                      ".attention.masked_bias"}};
}

}  // namespace

Result<Model> import_decoder(const ConfigSource& source, Classes classes, const DecoderConfig& config,
                             const DecoderNames& names) {
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, tensor_names(config, names), config.dtype));
  RUNG_TRY(Shape shape, chunk_shape(source, config));
  frame->model.stages = {{"embeddings", {std::string(names.embedding)}},
                         {"layers", {std::string(names.layers)}},
                         {"head", {std::string(names.norm), std::string(names.head)}}};
  TokenHistory history(*frame, config, shape);
  DecoderWriter writer(*frame, config, names, history);
  const NodeId hidden = writer.hidden();
  if (frame->head() == Head::causal_lm)
    frame->output("logits", writer.logits(hidden));
  else
    frame->output("last_hidden_state", hidden);
  return frame->finish();
}

}  // namespace rung::huggingface
