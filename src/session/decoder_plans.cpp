// Reads what the plans of a decoder are: the sizes of their chunks, the bounds of a text, the encoder and its source.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "plan/named.hpp"
#include "plan/state_use.hpp"
#include "session/decoder.hpp"
#include "session/decoder_ports.hpp"

namespace rung {
namespace {

// The encoder's plan is the one that knows no place in the text.
bool is_encoder(const Plan& plan) {
  return !plan.states.empty() && find_named(plan.states, decoder_ports::kPosition) == nullptr &&
         !find_named(plan.outputs, decoder_ports::kLogits);
}

Status check_ports(const Plan& plan) {
  const auto lacks = [](const char* what) {
    return mismatch("the plan is not a decoder's that remembers its text: it lacks {}", what);
  };
  const auto has_type = [](const auto* port, const Type& type) { return port && port->type == type; };
  const PlanInput* tokens = tokens_of(plan);
  const Type one{DType::i64, {1}};
  if (!tokens || tokens->type.dtype != DType::i64 || tokens->type.shape.rank() != 2 || tokens->type.shape[0] != 1)
    return lacks("input_ids of i64[1,S]");
  if (!has_type(find_named(plan.inputs, decoder_ports::kCount), one)) return lacks("an input count of i64[1]");
  if (!has_type(find_named(plan.states, decoder_ports::kPosition), one)) return lacks("a state position of i64[1]");
  const auto* logits = find_named(plan.outputs, decoder_ports::kLogits);
  const auto has_rows = [&](int64_t rows) { return logits->type.shape[0] == rows; };
  if (!logits || logits->type.dtype != DType::f32 || logits->type.shape.rank() != 2 ||
      !(has_rows(1) || has_rows(tokens->type.shape[1])))
    return lacks("logits of f32[1,V] or f32[S,V]");
  return {};
}

}  // namespace

const PlanInput* tokens_of(const Plan& plan) {
  const auto* tokens = find_named(plan.inputs, decoder_ports::kDecoderTokens);
  return tokens ? tokens : find_named(plan.inputs, decoder_ports::kTokens);
}

Result<Decoder> Decoder::create(PlanSet plans) {
  for (const auto& plan : plans)
    if (!is_encoder(*plan)) RUNG_CHECK(check_ports(*plan));
  RUNG_TRY(SetSession session, SetSession::create(std::move(plans)));
  return over(std::move(session));
}

Result<Decoder> Decoder::over(SetSession session) {
  Decoder decoder(std::move(session));
  RUNG_CHECK(decoder.read_plans());
  return decoder;
}

Result<Decoder> Decoder::fork() {
  RUNG_TRY(SetSession session, session_.fork());
  RUNG_TRY(Decoder other, over(std::move(session)));
  other.text_ = text_;
  return other;
}

Status Decoder::read_plans() {
  const PlanSet& plans = session_.plans();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!is_encoder(*plans[i])) {
      plan_of_.push_back(i);
    } else if (encoder_) {
      return mismatch("got plans of several encoders, wanted one; the file serves: {}", plans.served());
    } else {
      encoder_ = i;
    }
  }
  if (plan_of_.empty()) return mismatch("got an encoder's plan alone, wanted a decoder's, too");
  const auto chunk_of = [&](size_t plan) { return tokens_of(*plans[plan])->type.shape[1]; };
  std::ranges::sort(plan_of_, {}, chunk_of);
  for (size_t plan : plan_of_) {
    chunks_.push_back(chunk_of(plan));
    if (find_named(plans[plan]->outputs, decoder_ports::kLogits)->type.shape[0] == chunks_.back())
      scored_chunk_ = chunks_.back();
  }
  vocabulary_ = find_named(plan_of_one().outputs, decoder_ports::kLogits)->type.shape[1];
  read_bounds(plan_of_one());
  return {};
}

// A text is bounded by the caches of layers that see all of it, and by tables with a row for each place, which are
// those that something else than its tokens is looked up in.
void Decoder::read_bounds(const Plan& plan) {
  most_ = std::numeric_limits<int32_t>::max();
  const uint32_t tokens = tokens_of(plan)->buffer;
  const std::vector<bool> is_state = state_buffers(plan);
  std::vector<int64_t> caches;
  for (const Step& step : plan.steps) {
    const PlanOperand* first = step.inputs.empty() ? nullptr : &step.inputs[0];
    const auto* gather = as<Gather>(step.op);
    const bool is_table = gather && gather->axis == 0 && first->storage == Storage::weight;
    if (is_table && !is_in(step.inputs[1], tokens)) most_ = std::min(most_, first->view.shape[0]);
    if (as<Scatter>(step.op) && first->storage == Storage::buffer && is_state[first->index])
      caches.push_back(first->view.shape[0]);
    if (as<CacheHeads>(step.op)) caches.push_back(step.inputs[CacheHeads::kKeys].view.shape[0]);
    const auto add_attention = [&](int64_t places, const KeySpan& span) {
      if (span.before >= places)
        most_ = std::min(most_, places);
      else
        rings_.push_back({places, span.before + 1});
    };
    const auto* attention = as<Attention>(step.op);
    if (attention && attention->has_length())
      add_attention(step.inputs[attention->first_key()].view.shape[1], attention->span);
    if (const auto* cached = as<CachedAttention>(step.op))
      add_attention(step.inputs[CacheHeads::kKeys].view.shape[0], cached->span);
  }
  std::ranges::sort(rings_, {}, [](const Ring& ring) { return std::pair(ring.places, ring.window); });
  rings_.erase(std::unique(rings_.begin(), rings_.end()), rings_.end());
  for (int64_t places : caches)
    if (std::ranges::find(rings_, places, &Ring::places) == rings_.end()) most_ = std::min(most_, places);
}

// Returns the source as the encoder's plan takes it: shorter texts are padded with their last token.
Result<NamedTensors> Decoder::padded(const NamedTensors& source) const {
  NamedTensors inputs;
  for (const auto& [name, value] : source) {
    const auto* input = name == decoder_ports::kCount ? nullptr : find_named(encoder()->inputs, name);
    if (!input) return wrong_usage("got the input '{}', which the encoder does not have", name);
    const Type& wanted = input->type;
    const bool is_text =
        name == decoder_ports::kTokens && find_named(encoder()->inputs, decoder_ports::kCount) != nullptr;
    const bool fits = is_text ? value.dtype() == DType::i64 && value.shape().rank() == 2 && value.shape()[0] == 1 &&
                                    value.shape()[1] >= 1 && value.shape()[1] <= wanted.shape[1]
                              : value.type() == wanted;
    if (!fits)
      return wrong_usage("{}: got {}, wanted {}{}", name, value.type(), wanted, is_text ? ", or fewer tokens" : "");
    inputs.emplace(name, value);
    if (!is_text) continue;
    Tensor all(wanted);
    const auto given = value.as<int64_t>();
    std::ranges::fill(all.as<int64_t>(), given.back());
    std::ranges::copy(given, all.as<int64_t>().begin());
    inputs.insert_or_assign(name, std::move(all));
    inputs.insert_or_assign(decoder_ports::kCount, Tensor::of<int64_t>({1}, {static_cast<int64_t>(given.size())}));
  }
  return inputs;
}

Status Decoder::read(const NamedTensors& source) {
  if (!encoder_) return wrong_usage("got a source, and the model has no encoder that reads it");
  RUNG_TRY(const NamedTensors inputs, padded(source));
  text_ = {};
  RUNG_CHECK(session_.reset_states());
  RUNG_CHECK(session_[*encoder_].infer(inputs));
  text_.has_source = true;
  return {};
}

}  // namespace rung
