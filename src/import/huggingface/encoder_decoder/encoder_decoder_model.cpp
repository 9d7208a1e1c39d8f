// Opens the weights of an encoder-decoder and writes the part that is asked for.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/encoder_decoder/encoder_decoder_model.hpp"

#include "import/huggingface/decoders/decoder_model.hpp"
#include "import/huggingface/encoder_decoder/source.hpp"
#include "import/huggingface/encoder_decoder/source_memory.hpp"
#include "import/huggingface/limits.hpp"
#include "ir/checked_shape.hpp"

namespace rung::huggingface {
namespace {

enum class Part { encoder_alone, all, encoder, decoder };

Part part_of(Head head, const DecoderCache& cache) {
  if (head == Head::none) return Part::encoder_alone;
  if (cache.length == 0) return Part::all;
  return cache.encodes ? Part::encoder : Part::decoder;
}

// Tensors of the other part are not read, and no mistake.
TensorNames tensor_names(const EncoderDecoderConfig& c, const EncoderDecoderNames& names, Part part) {
  TensorNames out{.prefix = std::string(names.prefix),
                  .probe = fmt::format("{}.weight", names.embedding),
                  .probe_shape = {c.shared.vocabulary, c.shared.width},
                  .layers = std::string(names.encoder.layers),
                  .heads = {},
                  .ignored = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "embed_positions.weights",
                              "EncDecAttention.relative_attention_bias.weight"},
                  .has_decoder = true};
  if (part == Part::encoder_alone || part == Part::encoder) {
    out.heads = {names.head_tensors, names.decoder_tensors};
    if (!names.logit_bias.empty()) out.heads.push_back(names.logit_bias);
  }
  // The decoder's own products for keys and values of the source are the encoder's graph's.
  if (part == Part::decoder) out.heads = {names.encoder_tensors, names.decoder_tensors};
  return out;
}

class EncoderDecoderWriter {
 public:
  EncoderDecoderWriter(ModelFrame& frame, const EncoderDecoderConfig& c, const EncoderDecoderNames& names)
      : frame_(frame),
        w_(frame.builder),
        c_(c),
        names_(names),
        encoder_(frame, c, names.encoder),
        decoder_(frame, c, names.decoder) {}

  // T[B,E,width]
  NodeId encoded(const Source& source) {
    const NodeId mask = encoder_mask(source);
    const auto attend_all = [&](size_t, const Projections& heads, const std::string& label) {
      return attend(heads, mask, label);
    };
    NodeId x = encoder_.first_norm(source.x);
    for (int64_t i = 0; i < c_.encoder_layers; ++i) x = encoder_.layer(static_cast<size_t>(i), x, attend_all);
    return encoder_.last_norm(x);
  }

  // Writes the decoder over a source that stands in the same run.
  void decode(const DecoderChunk& chunk, NodeId source, NodeId mask) {
    TokenHistory history(frame_, c_.shared, chunk);
    const NodeId bias = c_.relative.buckets > 0 ? decoder_bias().among(chunk.tokens[1]) : kNoNode;
    write_decoder(history, bias, [&](size_t layer, NodeId queries, const std::string& label) {
      const SourceHeads heads = decoder_.source_heads(layer, source);
      return attend({queries, heads.k, heads.v}, mask, label);
    });
  }

  // Writes a chunk of the decoder, whose source an earlier run of the encoder has read.
  void decode_chunk(const DecoderChunk& chunk, int64_t places) {
    TokenHistory history(frame_, c_.shared, chunk);
    SourceMemory memory(frame_, c_, places);
    const NodeId mask = c_.hears() ? kNoNode : memory.recalled_mask();
    const NodeId bias = c_.relative.buckets > 0
                            ? decoder_bias().behind(history.position(), chunk.tokens[1], chunk.cache.length)
                            : kNoNode;
    write_decoder(history, bias, [&](size_t layer, NodeId queries, const std::string& label) {
      const SourceHeads heads = memory.recall(layer);
      return attend({queries, heads.k, heads.v}, mask, label);
    });
    history.write_states();
    memory.write_states();
  }

  // Keeps what the decoder's cross attentions read of a source.
  void keep(const Source& source, NodeId encoded, int64_t places) {
    SourceMemory memory(frame_, c_, places);
    for (size_t i = 0; i < c_.shared.layers.size(); ++i) memory.keep(i, decoder_.source_heads(i, encoded));
    if (source.count != kNoNode) memory.keep_count(source.count);
    memory.write_states();
  }

 private:
  NodeId attend(const Projections& heads, NodeId mask, const std::string& label) {
    Attention op{.scale = c_.shared.attention_scale};
    std::vector<NodeId> operands{heads.q, heads.k, heads.v};
    if (mask != kNoNode) op.slots.put(operands, AttentionSlot::mask, mask);
    return w_.op(op, std::move(operands), label);
  }

  NodeId encoder_mask(const Source& source) {
    if (c_.relative.buckets == 0) return source.mask;
    const Module table = encoder_.first_layer().child(names_.encoder.relative_bias);
    const NodeId bias = RelativeBias(w_, table, c_.relative, c_.shared.heads).among(w_.graph.shape(source.x)[1]);
    return w_.binary(BinaryKind::add, bias, source.mask, table.label);
  }

  RelativeBias decoder_bias() {
    RelativePositions behind = c_.relative;
    behind.looks_ahead = false;
    return {w_, decoder_.first_layer().child(names_.decoder.relative_bias), behind, c_.shared.heads};
  }

  void write_decoder(TokenHistory& history, NodeId bias, const StackWriter::Cross& cross) {
    const auto attend_before = [&](size_t layer, const Projections& heads, const std::string& label) {
      return history.attend(layer, heads, label, bias);
    };
    NodeId x = decoder_.first_norm(embedded(history));
    for (size_t i = 0; i < c_.shared.layers.size(); ++i) x = decoder_.layer(i, x, attend_before, cross);
    frame_.output("logits", history.by_token(logits(decoder_.last_norm(history.asked(x)))));
  }

  NodeId embedded(TokenHistory& history) {
    const Module m = frame_.encoder().child(names_.embedding);
    const NodeId table = w_.weight(m.tensor("weight"), {c_.shared.vocabulary, c_.shared.width}, frame_.dtype());
    NodeId x = w_.op(Gather{.axis = 0}, {table, history.tokens()}, m.label);
    if (c_.shared.embedding_scale != 1) x = w_.scale(x, c_.shared.embedding_scale, m.label);
    if (names_.positions.empty()) return x;
    const Module p = frame_.encoder().child(names_.positions);
    const PlaceRows rows = place_rows(frame_, c_.places, p, {c_.shared.positions, c_.shared.width}, history.most());
    return w_.binary(BinaryKind::add, x, history.rows_of(rows.table, p.label, rows.first), p.label);
  }

  // The library scales the hidden states, not the scores.
  NodeId logits(NodeId hidden) {
    const Module m = Module::of(std::string(names_.head));
    if (c_.shared.logit_scale != 1) hidden = w_.scale(hidden, c_.shared.logit_scale, m.label);
    const std::string table = frame_.decoder_weight(m.tensor("weight"), c_.shared.is_tied);
    const NodeId weight = w_.weight(table, {c_.shared.vocabulary, c_.shared.width}, frame_.dtype());
    const NodeId scores = w_.op(Linear{.out = DType::f32}, {hidden, weight}, m.label);
    const std::string bias(names_.logit_bias);
    if (bias.empty() || !frame_.checkpoint().type(bias)) return scores;
    return w_.binary(BinaryKind::add, scores, w_.weight(bias, {1, c_.shared.vocabulary}, DType::f32), bias);
  }

  ModelFrame& frame_;
  ModuleBuilder& w_;
  const EncoderDecoderConfig& c_;
  const EncoderDecoderNames& names_;
  StackWriter encoder_, decoder_;
};

Result<DecoderChunk> chunk_over(const ConfigSource& source, const EncoderDecoderConfig& c, const Shape& read) {
  RUNG_TRY(const DecoderChunk chunk, chunk_of(source, c.shared, {.name = "decoder_input_ids", .batch = read[0]}));
  if (chunk.tokens[0] != read[0])
    return mismatch("shape {} for decoder_input_ids: wanted {} sequences, as many as the encoder reads", chunk.tokens,
                    read[0]);
  const Shape scores{read[0], c.shared.heads, chunk.tokens[1], places_of(read, c)};
  if (!within_limits(scores))
    return mismatch("shape {} for decoder_input_ids: a value of shape {} has more than {} elements", chunk.tokens,
                    scores, kMaxElements);
  if (c.relative.buckets == 0) return chunk;
  const int64_t keys = chunk.cache.length > 0 ? chunk.cache.length : chunk.tokens[1];
  RUNG_CHECK(check_made("relative positions", chunk.tokens[1], keys));
  return chunk;
}

}  // namespace

Result<Model> import_encoder_decoder(const ConfigSource& source, Classes classes, const EncoderDecoderConfig& config,
                                     const EncoderDecoderNames& names) {
  RUNG_TRY(const Head head, head_of(source, classes));
  const Part part = part_of(head, source.options.cache);
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, tensor_names(config, names, part), config.shared.dtype));
  RUNG_TRY(const Shape read, source_shape(source, config));
  const int64_t places = places_of(read, config);
  frame->model.stages = {{"encoder", {std::string(names.encoder.layers)}},
                         {"decoder", {std::string(names.decoder.layers)}},
                         {"head", {std::string(names.head)}}};
  DecoderChunk chunk;
  if (part == Part::all || part == Part::decoder) {
    RUNG_TRY(chunk, chunk_over(source, config, read));
  }
  EncoderDecoderWriter writer(*frame, config, names);
  if (part == Part::decoder) {
    writer.decode_chunk(chunk, places);
  } else {
    const Source front = write_source(*frame, config, names, read, part == Part::encoder);
    const NodeId encoded = writer.encoded(front);
    if (part == Part::all)
      writer.decode(chunk, encoded, front.mask);
    else
      frame->output("last_hidden_state", encoded);
    if (part == Part::encoder) writer.keep(front, encoded, places);
  }
  RUNG_TRY(Model model, frame->finish());
  if (part == Part::encoder || part == Part::decoder) model.notes.clear();  // they name the other part's tensors
  return model;
}

}  // namespace rung::huggingface
