// Reads sampled tokens with a decoder of default plans, and copies its states.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/text_start.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/random.hpp"
#include "open/inputs.hpp"
#include "session/decoder_ports.hpp"
#include "tasks/decoder.hpp"

namespace rung::tasks {
namespace {

constexpr int64_t kRestChunk = 64;  // reads what is left behind the largest chunks
constexpr uint64_t kSeed = 1;

bool has_encoder(const ClimbTask& task) { return task.model.shapes.contains(decoder_ports::kDecoderTokens); }

// A chunk of an encoder-decoder reads states that it has no first values for.
bool needs_states(const ClimbTask& task) {
  const DecoderCache& cache = task.model.cache;
  return cache.length > 0 && !cache.encodes && (task.text_before > 0 || has_encoder(task));
}

DecoderTask reader_of(const ClimbTask& task) {
  const DecoderCache& cache = task.model.cache;
  DecoderTask decoder{.model = task.model, .length = cache.length, .scored_chunk = cache.scored_chunk};
  decoder.has_encoder = has_encoder(task);
  decoder.source = cache.source;
  decoder.chunks = {1};
  for (const int64_t chunk : {kRestChunk, cache.largest_chunk})
    if (chunk > decoder.chunks.back() && chunk <= cache.largest_chunk) decoder.chunks.push_back(chunk);
  decoder.model.dtype = DType::f32;
  decoder.model.shapes.clear();
  decoder.model.inputs = {};
  return decoder;
}

std::vector<int64_t> sampled_tokens(const Decoder& decoder, int64_t first, int64_t count) {
  std::vector<int64_t> tokens;
  for (int64_t i = first; i < first + count; ++i)
    tokens.push_back(static_cast<int64_t>(random_bits(kSeed, static_cast<uint64_t>(i)) %
                                          static_cast<uint64_t>(decoder.vocabulary())));
  return tokens;
}

Status read_source(Decoder& decoder) {
  NamedTensors source = sample_missing(*decoder.encoder(), {}, kSeed);
  source.erase(decoder_ports::kCount);
  return decoder.read(source);
}

}  // namespace

Status begin_behind_texts(std::span<const ClimbTask> tasks, std::span<Opened> opened) {
  std::set<int64_t> lengths;
  const ClimbTask* first = nullptr;
  for (const ClimbTask& task : tasks) {
    if (!needs_states(task)) continue;
    lengths.insert(task.text_before);
    first = first ? first : &task;
  }
  if (!first) return {};
  RUNG_TRY(Decoder decoder, open_decoder(reader_of(*first)));
  if (decoder.has_encoder()) RUNG_CHECK(read_source(decoder));
  std::map<int64_t, NamedTensors> behind;
  for (const int64_t length : lengths) {
    const std::vector<int64_t> more = sampled_tokens(decoder, decoder.length(), length - decoder.length());
    if (!more.empty()) RUNG_CHECK(decoder.take(more, first->interrupted));
    RUNG_TRY(behind[length], decoder.states());
  }
  for (size_t i = 0; i < tasks.size(); ++i)
    if (needs_states(tasks[i]))
      begin_with(*opened[i].subject, behind.at(tasks[i].text_before), tasks[i].model.cache.length);
  return {};
}

}  // namespace rung::tasks
