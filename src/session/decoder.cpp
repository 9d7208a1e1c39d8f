// Cuts tokens into chunks that plans take, and keeps account of what the caches hold.
// SPDX-License-Identifier: Apache-2.0
#include "session/decoder.hpp"

#include <algorithm>
#include <limits>

#include "plan/named.hpp"
#include "plan/state_use.hpp"

namespace rung {
namespace {

constexpr const char *kTokens = "input_ids", *kDecoderTokens = "decoder_input_ids", *kCount = "count";
constexpr const char *kLogits = "logits", *kPosition = "position";

// The encoder's plan is the one that knows no place in the text.
bool is_encoder(const Plan& plan) {
  return !plan.states.empty() && find_named(plan.states, kPosition) == nullptr && !find_named(plan.outputs, kLogits);
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
  if (!has_type(find_named(plan.inputs, kCount), one)) return lacks("an input count of i64[1]");
  if (!has_type(find_named(plan.states, kPosition), one)) return lacks("a state position of i64[1]");
  const auto* logits = find_named(plan.outputs, kLogits);
  const auto has_rows = [&](int64_t rows) { return logits->type.shape[0] == rows; };
  if (!logits || logits->type.dtype != DType::f32 || logits->type.shape.rank() != 2 ||
      !(has_rows(1) || has_rows(tokens->type.shape[1])))
    return lacks("logits of f32[1,V] or f32[S,V]");
  return {};
}

}  // namespace

const PlanInput* tokens_of(const Plan& plan) {
  const auto* tokens = find_named(plan.inputs, kDecoderTokens);
  return tokens ? tokens : find_named(plan.inputs, kTokens);
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
    if (find_named(plans[plan]->outputs, kLogits)->type.shape[0] == chunks_.back()) scored_chunk_ = chunks_.back();
  }
  vocabulary_ = find_named(plan_of_one().outputs, kLogits)->type.shape[1];
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
    const auto* attention = as<Attention>(step.op);
    if (!attention || !attention->has_length()) continue;
    const int64_t places = step.inputs[attention->first_key()].view.shape[1];
    if (attention->span.before >= places)
      most_ = std::min(most_, places);
    else
      rings_.push_back({places, attention->span.before + 1});
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
    const auto* input = name == kCount ? nullptr : find_named(encoder()->inputs, name);
    if (!input) return wrong_usage("got the input '{}', which the encoder does not have", name);
    const Type& wanted = input->type;
    const bool is_text = name == kTokens && find_named(encoder()->inputs, kCount) != nullptr;
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
    inputs.insert_or_assign(kCount, Tensor::of<int64_t>({1}, {static_cast<int64_t>(given.size())}));
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

// Checks tokens that are to follow those that are not read.
Status Decoder::check(std::span<const int64_t> tokens) const {
  if (encoder_ && !text_.has_source) return wrong_usage("got tokens before a source: the encoder reads that first");
  const auto count = static_cast<int64_t>(tokens.size());
  if (count + length() == 0 || (count + unread() == 0 && text_.logits))
    return wrong_usage("got no tokens, wanted at least one");
  if (count > most_ - length())
    return wrong_usage("got {} tokens behind a text of {}: there is room for {}", count, length(), most_);
  const PlanInput* input = tokens_of(plan_of_one());
  const int64_t first = input->first.value_or(0), last = input->last.value_or(vocabulary_ - 1);
  const auto bad = std::ranges::find_if(tokens, [&](int64_t token) { return token < first || token > last; });
  if (bad == tokens.end()) return {};
  return wrong_usage("token {} of {} is {}: wanted {} to {}", bad - tokens.begin(), count, *bad, first, last);
}

// Returns the chunk that takes all of the tokens with the least padding, or else the most of them at once. Padding
// takes places, too.
size_t Decoder::chunk_for(int64_t tokens) const {
  const int64_t room = most_ - text_.read;
  size_t best = 0;
  for (size_t i = 0; i < chunks_.size() && chunks_[i] <= room; ++i) {
    best = i;
    if (chunks_[i] >= tokens) break;
  }
  return best;
}

Status Decoder::take(std::span<const int64_t> tokens, const Interrupted& interrupted) {
  RUNG_CHECK(check(tokens));
  if (tokens.empty() && unread() == 0) RUNG_CHECK(go_back(length() - 1));
  if (!text_.scores) text_.ahead.clear();  // scores are wanted, which whoever read ahead did not leave
  for (int64_t token : tokens) append(token);
  while (unread() > 0) {
    if (wants_end(interrupted)) {
      text_.tokens.resize(static_cast<size_t>(text_.read));
      return was_interrupted("interrupted after {} tokens", text_.read);
    }
    const size_t chunk = chunk_for(unread());
    const auto count = static_cast<size_t>(std::min(unread(), chunks_[chunk]));
    RUNG_CHECK(run(chunk, count));
  }
  return {};
}

void Decoder::append(int64_t token) {
  const bool is_drafted = unread() == 0 && !text_.ahead.empty() && text_.ahead.front() == token;
  text_.tokens.push_back(token);
  if (!is_drafted) return text_.ahead.clear();
  text_.ahead.erase(text_.ahead.begin());
  ++text_.read;
  if (!text_.scores) return;
  ++accepted_;
  set_row(text_.row + 1);
}

int64_t Decoder::most_drafts() const {
  int64_t size = 0;
  for (int64_t chunk : chunks_)
    if (chunk <= scored_chunk_ && chunk <= most_ - text_.read) size = chunk;
  const int64_t written = std::max(text_.written, text_.read + size);
  for (const Ring& ring : rings_)
    if (written > std::max<int64_t>(0, length() - (ring.window - 1)) + ring.places) return 0;
  return std::max<int64_t>(0, size - unread());
}

Status Decoder::take_ahead(std::span<const int64_t> drafts) {
  const auto count = static_cast<int64_t>(drafts.size());
  if (unread() == 0 || count > most_drafts())
    return wrong_usage("got {} drafts behind {} tokens that are not read, wanted at most {} behind one or more", count,
                       unread(), most_drafts());
  return run(chunk_for(unread() + count), static_cast<size_t>(unread()), drafts);
}

void Decoder::set_row(int64_t row) {
  const Type one{DType::f32, {1, vocabulary_}};
  std::byte* data = text_.scores->data() + static_cast<size_t>(row) * one.bytes();
  text_.row = row;
  text_.logits = Tensor(one, std::shared_ptr<std::byte>(text_.scores, data));
}

// Reads that many tokens of the text, and drafts behind them.
Status Decoder::run(size_t chunk, size_t count, std::span<const int64_t> drafts) {
  const auto tokens = std::span(text_.tokens).subspan(static_cast<size_t>(text_.read), count);
  Tensor ids({DType::i64, {1, chunks_[chunk]}});
  const auto padded = ids.as<int64_t>();
  std::ranges::fill(padded, tokens.back());
  std::ranges::copy(drafts, std::ranges::copy(tokens, padded.begin()).out);
  const auto real = static_cast<int64_t>(count + drafts.size());
  if (text_.position != text_.read) RUNG_CHECK(session_.set_state(kPosition, Tensor::of<int64_t>({1}, {text_.read})));
  Session& session = session_[plan_of_[chunk]];
  RUNG_TRY(auto outputs,
           session.infer({{tokens_of(session.plan())->name, ids}, {kCount, Tensor::of<int64_t>({1}, {real})}}));
  ++runs_;
  text_.position = text_.read + real;
  text_.written = std::max(text_.written, text_.read + chunks_[chunk]);
  text_.read += static_cast<int64_t>(count);
  text_.ahead.assign(drafts.begin(), drafts.end());
  for (auto& [name, value] : outputs)
    if (name == kLogits) text_.scores = std::make_shared<Tensor>(std::move(value));
  set_row(text_.scores->shape()[0] == 1 ? 0 : static_cast<int64_t>(count) - 1);
  return {};
}

Status Decoder::check_truncation(int64_t length) const {
  if (length < 0 || length > this->length())
    return wrong_usage("got a length of {}, wanted 0 to {}, the text's own", length, this->length());
  for (const Ring& ring : rings_) {
    const int64_t oldest = std::max<int64_t>(0, length - (ring.window - 1));  // that the next token sees
    if (length > 0 && length < text_.read && text_.written > oldest + ring.places)
      return wrong_usage("a text of {} tokens cannot end at {}: a layer remembers its last {} alone", this->length(),
                         length, ring.places);
  }
  return {};
}

// Takes places back from the states, which the next run learns; the text keeps its tokens. An encoder's states outlast
// all texts about its source.
Status Decoder::go_back(int64_t length) {
  RUNG_CHECK(check_truncation(length));
  if (length == 0) {
    if (!encoder_) {
      RUNG_CHECK(session_.reset_states());
      text_.position = 0;
    }
    text_.read = text_.written = 0;
    text_.ahead.clear();
    text_.logits.reset();
  } else if (length < text_.read) {
    text_.read = length;
    text_.ahead.clear();
    text_.logits.reset();
  }
  return {};
}

Status Decoder::begin_ahead() {
  if (unread() != 1) return wrong_usage("got {} tokens that are not read, wanted one", unread());
  if (text_.position != text_.read) RUNG_CHECK(session_.set_state(kPosition, Tensor::of<int64_t>({1}, {text_.read})));
  text_.position = text_.read;
  return {};
}

void Decoder::read_ahead(std::span<const int64_t> made) {
  ++runs_, ++text_.read;
  text_.ahead.assign(made.begin(), made.end() - 1);
  text_.position = text_.read + static_cast<int64_t>(text_.ahead.size());
  text_.written = std::max(text_.written, text_.position);
  text_.scores.reset(), text_.logits.reset();
}

int64_t Decoder::most_made_ahead() const {
  int64_t most = most_;
  for (const Ring& ring : rings_) most = std::min(most, ring.places - (ring.window - 1));
  return std::max<int64_t>(1, most);
}

Status Decoder::truncate(int64_t length) {
  RUNG_CHECK(go_back(length));
  text_.tokens.resize(static_cast<size_t>(length));
  return {};
}

}  // namespace rung
