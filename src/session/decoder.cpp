// Cuts tokens into chunks that plans take, and keeps account of what the caches hold.
// SPDX-License-Identifier: Apache-2.0
#include "session/decoder.hpp"

#include <algorithm>

#include "session/decoder_ports.hpp"

namespace rung {

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
  if (unread() == 0) return 0;
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
  if (text_.position != text_.read)
    RUNG_CHECK(session_.set_state(decoder_ports::kPosition, Tensor::of<int64_t>({1}, {text_.read})));
  Session& session = session_[plan_of_[chunk]];
  RUNG_TRY(auto outputs, session.infer({{tokens_of(session.plan())->name, ids},
                                        {decoder_ports::kCount, Tensor::of<int64_t>({1}, {real})}}));
  ++runs_;
  text_.position = text_.read + real;
  text_.written = std::max(text_.written, text_.read + chunks_[chunk]);
  text_.read += static_cast<int64_t>(count);
  text_.ahead.assign(drafts.begin(), drafts.end());
  for (auto& [name, value] : outputs)
    if (name == decoder_ports::kLogits) text_.scores = std::make_shared<Tensor>(std::move(value));
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
  if (text_.position != text_.read)
    RUNG_CHECK(session_.set_state(decoder_ports::kPosition, Tensor::of<int64_t>({1}, {text_.read})));
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
