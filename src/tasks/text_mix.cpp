// Cuts a prompt into chunks, and adds up what runs take.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/text_mix.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/divide.hpp"
#include "open/open_model.hpp"
#include "tasks/decoder.hpp"
#include "tasks/text_limit.hpp"

namespace rung::tasks {
namespace {

Status check_mix(const OpenOptions& model, const TextMix& mix) {
  if (is_plan_file(model.path)) return wrong_usage("'{}' is already a plan: climb a model directory", model.path);
  if (mix.prompt < 2)
    return wrong_usage("{}: got {}, wanted at least 2 tokens of a prompt", model.named("prompt"), mix.prompt);
  if (mix.made < 1) return wrong_usage("{}: got {}, wanted at least 1 new token", model.named("new"), mix.made);
  if (model.inputs.read)
    return wrong_usage("got {} and {}: wanted one of them, as a mix is climbed on sampled tokens",
                       model.named("prompt"), model.named("inputs"));
  if (!model.shapes.empty())
    return wrong_usage("got {} and {}: wanted one of them, as a prompt says the sizes of its chunks",
                       model.named("prompt"), model.named("shape"));
  return {};
}

// Returns the most tokens of the model's texts.
Result<int64_t> positions_of(const OpenOptions& model) {
  RUNG_TRY(const TextLimit limit, text_limit_of(model));
  if (limit.positions > 0) return limit.positions;
  return wrong_usage("{} and {}: '{}' ({}) is no decoder language model", model.named("prompt"), model.named("new"),
                     model.path, limit.architecture);
}

}  // namespace

Result<MixPhases> phases_of(const OpenOptions& model, const TextMix& mix) {
  RUNG_CHECK(check_mix(model, mix));
  RUNG_TRY(const int64_t positions, positions_of(model));
  const auto too_long = [&](int64_t tokens) {
    return wrong_usage("{} {} and {} {}: got {} tokens, wanted at most {}, the model's positions",
                       model.named("prompt"), mix.prompt, model.named("new"), mix.made, tokens, positions);
  };
  if (const int64_t longer = std::max(mix.prompt, mix.made); longer > positions) return too_long(longer);
  MixPhases phases;
  phases.chunks = divide_up(mix.prompt, usual_longest_chunk(model));
  phases.chunk = divide_up(mix.prompt, phases.chunks);
  const int64_t wanted = std::max(phases.chunks * phases.chunk, mix.prompt + mix.made);
  if (wanted > positions) return too_long(wanted);
  phases.cache = model.cache.length > 0 ? model.cache.length : wanted;
  if (phases.cache < wanted)
    return wrong_usage("{} {} and {} {}: got {} {}, wanted at least {}", model.named("prompt"), mix.prompt,
                       model.named("new"), mix.made, model.named("cache"), phases.cache, wanted);
  phases.chunk_before = (phases.chunks - 1) * phases.chunk / 2;
  phases.token_before = mix.prompt + (mix.made - 1) / 2;
  return phases;
}

std::vector<OpenOptions> options_of(const OpenOptions& model, const MixPhases& phases) {
  std::vector<OpenOptions> all(2, model);
  for (OpenOptions& one : all) {
    one.cache.length = phases.cache;
    one.cache.largest_chunk = phases.chunk;
  }
  all[0].shapes["input_ids"] = {1, phases.chunk};
  all[1].shapes["input_ids"] = {1, 1};
  return all;
}

// The prompt's last run gives the first new token.
MixTimes times_of(const TextMix& mix, const MixPhases& phases, const ClimbResult& chunk, const ClimbResult& token) {
  const auto chunks = static_cast<double>(phases.chunks), further = static_cast<double>(mix.made - 1);
  MixTimes times{.mix = mix, .phases = phases};
  times.prefill_ms = chunks * chunk.final_ms;
  times.prefill_floor_ms = chunks * chunk.floor_ms;
  times.decode_ms = token.final_ms;
  times.decode_floor_ms = token.floor_ms;
  times.total_ms = times.prefill_ms + further * times.decode_ms;
  times.floor_ms = times.prefill_floor_ms + further * times.decode_floor_ms;
  return times;
}

nlohmann::json to_json(const MixTimes& times) {
  return {{"prompt", times.mix.prompt},
          {"new", times.mix.made},
          {"chunks", times.phases.chunks},
          {"prefill_ms", times.prefill_ms},
          {"prefill_floor_ms", times.prefill_floor_ms},
          {"decode_ms", times.decode_ms},
          {"decode_floor_ms", times.decode_floor_ms},
          {"total_ms", times.total_ms},
          {"floor_ms", times.floor_ms}};
}

}  // namespace rung::tasks
