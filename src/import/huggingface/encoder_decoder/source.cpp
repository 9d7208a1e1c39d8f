// Writes the embedding of a text, and the two convolutions over the features of sound.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/encoder_decoder/source.hpp"

#include <algorithm>
#include <limits>

#include "import/huggingface/encoder_decoder/source_memory.hpp"
#include "import/huggingface/input_rules.hpp"
#include "import/huggingface/limits.hpp"
#include "ir/checked_shape.hpp"

namespace rung::huggingface {
namespace {

constexpr int64_t kUsualTokens = 128;    // of a text whose length nobody asked for
constexpr int64_t kTaps = 3, kStep = 2;  // of both convolutions, and of the second

bool is_in(int64_t value, IntRange range) { return value >= range.min && value <= range.max; }

Result<Shape> text_shape(const ConfigSource& source, const EncoderDecoderConfig& c) {
  const DecoderCache& cache = source.options.cache;
  const bool is_program = cache.length != 0;
  const IntRange tokens{1, c.source_positions}, batch{1, is_program ? 1 : kBatchBounds.max};
  const int64_t usual = is_program && cache.source != 0 ? cache.source : std::min(kUsualTokens, c.source_positions);
  const Shape shape =
      cache.encodes || !is_program ? requested_shape(source.options, "input_ids", {1, usual}) : Shape{1, usual};
  if (shape.rank() != 2 || !is_in(shape[0], batch) || !is_in(shape[1], tokens))
    return mismatch("shape {} for input_ids: wanted [B,E] with B from 1 to {}, E from 1 to {}", shape, batch.max,
                    tokens.max);
  if (is_program && shape[1] != usual)
    return mismatch("shape {} for input_ids: the states are of a source of {} tokens", shape, usual);
  return shape;
}

Result<Shape> sound_shape(const ConfigSource& source, const EncoderDecoderConfig& c) {
  const int64_t frames = kStep * c.source_positions;
  const Shape shape = requested_shape(source.options, "input_features", {1, c.mels, frames});
  const int64_t most = source.options.cache.length != 0 ? 1 : kBatchBounds.max;
  if (shape.rank() == 3 && is_in(shape[0], {1, most}) && shape[1] == c.mels && shape[2] == frames) return shape;
  return mismatch("shape {} for input_features: wanted [B,{},{}] with B from 1 to {}", shape, c.mels, frames, most);
}

NodeId text_mask(ModelFrame& frame, const Shape& tokens) {
  ModuleBuilder& w = frame.builder;
  const std::string label = "attention_mask";
  const NodeId mask = add_mask_input(frame.model, label, {DType::i64, tokens}, 1);
  const NodeId is_read = w.binary(BinaryKind::ne, mask, w.scalar(0, DType::i64), label);
  const NodeId lowest = w.scalar(static_cast<double>(std::numeric_limits<float>::lowest()), DType::f32);
  return w.op(Select{}, {w.reshape(is_read, {tokens[0], 1, 1, tokens[1]}, label), w.scalar(0, DType::f32), lowest},
              label);
}

// T[B,E,width] of tokens i64[B,E]
NodeId embedded_text(ModelFrame& frame, const EncoderDecoderConfig& c, const EncoderDecoderNames& names,
                     NodeId tokens) {
  ModuleBuilder& w = frame.builder;
  const Module m = frame.encoder().child(names.embedding);
  const NodeId table = w.weight(m.tensor("weight"), {c.shared.vocabulary, c.shared.width}, frame.dtype());
  NodeId x = w.op(Gather{.axis = 0}, {table, tokens}, m.label);
  if (c.shared.embedding_scale != 1) x = w.scale(x, c.shared.embedding_scale, m.label);
  if (names.source_positions.empty()) return x;
  const Module p = frame.encoder().child(names.source_positions);
  const int64_t count = w.graph.shape(tokens)[1];
  const PlaceRows rows = place_rows(frame, c.places, p, {c.source_positions, c.shared.width}, count);
  const NodeId own = w.op(Slice{.axis = 0, .begin = rows.first, .end = rows.first + count}, {rows.table}, p.label);
  return w.binary(BinaryKind::add, x, own, p.label);
}

Source write_text(ModelFrame& frame, const EncoderDecoderConfig& c, const EncoderDecoderNames& names,
                  const Shape& shape, bool counts) {
  ModuleBuilder& w = frame.builder;
  Source source;
  source.x = embedded_text(frame, c, names, add_token_input(frame.model, "input_ids", shape, c.shared.vocabulary));
  if (counts) {
    source.count = add_count_input(frame.model, "count", shape[1]);
    source.mask = SourceMemory::mask_of(w, source.count, shape[1]);
  } else {
    source.mask = text_mask(frame, shape);
  }
  return source;
}

// [B,frames,C] -> [B,frames / step,width]
NodeId convolution(ModelFrame& frame, const Module& m, NodeId x, const Shape& kernel, int64_t step) {
  ModuleBuilder& w = frame.builder;
  const DType dtype = w.graph.type(x).dtype;
  const NodeId weight = w.swap_axes(w.weight(m.tensor("weight"), kernel, dtype), 1, 2, m.label);
  return w.op(Conv{.slots = {ConvSlot::bias}, .stride = {step}, .before = {1}, .after = {1}},
              {x, weight, w.weight(m.tensor("bias"), {kernel[0]}, dtype)}, m.label);
}

Source write_sound(ModelFrame& frame, const EncoderDecoderConfig& c, const EncoderDecoderNames& names,
                   const Shape& shape) {
  ModuleBuilder& w = frame.builder;
  const Module first = frame.encoder().child(names.first_conv), second = frame.encoder().child(names.second_conv);
  const Module positions = frame.encoder().child(names.source_positions);
  const int64_t width = c.shared.width;
  const NodeId features =
      add_float_input(frame.model, "input_features", shape, Distribution::normal, "logarithms of a mel spectrum");
  NodeId x = w.swap_axes(w.cast(features, frame.dtype(), "input_features"), 1, 2, "input_features");
  x = w.unary(UnaryKind::gelu, convolution(frame, first, x, {width, c.mels, kTaps}, 1), first.label);
  x = w.unary(UnaryKind::gelu, convolution(frame, second, x, {width, width, kTaps}, kStep), second.label);
  const NodeId table = w.weight(positions.tensor("weight"), {c.source_positions, width}, frame.dtype());
  return {.x = w.binary(BinaryKind::add, x, table, positions.label)};
}

}  // namespace

Result<Shape> source_shape(const ConfigSource& source, const EncoderDecoderConfig& c) {
  RUNG_TRY(const Shape shape, c.hears() ? sound_shape(source, c) : text_shape(source, c));
  const int64_t places = places_of(shape, c);
  if (c.relative.buckets > 0) RUNG_CHECK(check_made("relative positions", places, places));
  const int64_t widest = std::max({c.shared.width, c.shared.mlp, c.shared.heads * c.shared.head_width});
  for (const Shape& made : {Shape{shape[0], places, widest}, Shape{shape[0], c.shared.heads, places, places}})
    if (!within_limits(made))
      return mismatch("shape {} of what the encoder reads: a value of shape {} has more than {} elements", shape, made,
                      kMaxElements);
  return shape;
}

int64_t places_of(const Shape& source, const EncoderDecoderConfig& c) {
  return c.hears() ? c.source_positions : source[1];
}

Source write_source(ModelFrame& frame, const EncoderDecoderConfig& c, const EncoderDecoderNames& names,
                    const Shape& shape, bool counts) {
  return c.hears() ? write_sound(frame, c, names, shape) : write_text(frame, c, names, shape, counts);
}

}  // namespace rung::huggingface
