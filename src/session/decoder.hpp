// A decoder language model at work: takes tokens, gives the scores of the next one, and remembers the text between
// calls in the states of its plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>

#include "session/set_session.hpp"

namespace rung {

// The plans of a set are those of one decoder for chunks of several sizes: they take input_ids i64[1,S] and count
// i64[1], the number of them that are real, give logits f32[1,V], and keep the number of tokens before the chunk in the
// state "position" (import/model.hpp, DecoderCache). With an encoder there is one more plan, which writes states that
// those of the decoder read, and their tokens are decoder_input_ids.
class Decoder {
 public:
  // Errors (mismatch): a plan that is none of a decoder's, naming what it lacks; those of SetSession::create().
  static Result<Decoder> create(PlanSet plans);

  // With an encoder: reads a source and begins a new text about it. A text of tokens, input_ids i64[1,E], may be
  // shorter than the plan's. Errors: there is no encoder, inputs that it does not have, more tokens than it reads
  // (wrong usage).
  Status read(const NamedTensors& source);
  bool has_encoder() const { return encoder_.has_value(); }

  // Appends tokens to the text, in as few runs as their number allows; logits() are then those behind the last one.
  // Errors: no source where there is an encoder, no tokens, more than the text has room for, a token that the model
  // does not have: the text stays as it was. A device that failed: the text is lost, and reset() begins a new one.
  Status take(std::span<const int64_t> tokens);
  // Scores of the next token, f32[V], behind the last token taken. Null before the first one.
  const Tensor* logits() const { return logits_ ? &*logits_ : nullptr; }

  // Forgets all tokens from place `length` on; the next take() continues there, about the same source. Errors: a length
  // beyond the text's, or one whose last tokens a layer with a sliding window no longer remembers (wrong usage): the
  // text stays.
  Status truncate(int64_t length);
  Status reset() { return truncate(0); }

  int64_t length() const { return length_; }          // tokens of the text
  int64_t most_tokens() const { return most_; }       // that a text can have
  int64_t vocabulary() const { return vocabulary_; }  // V
  int64_t runs() const { return runs_; }              // since create()
  // The plan of the smallest chunk, which makes one token after another.
  const Plan& plan_of_one() const { return *session_.plans()[plan_of_[0]]; }
  // The encoder's plan; null: there is none.
  const Plan* encoder() const { return encoder_ ? session_.plans()[*encoder_].get() : nullptr; }

 private:
  // A layer's cache that is shorter than the text can be: a ring of its last places.
  struct Ring {
    int64_t places, window;
    friend bool operator==(const Ring&, const Ring&) = default;
  };

  explicit Decoder(SetSession session) : session_(std::move(session)) {}
  Status read_plans();
  void read_bounds(const Plan& plan);
  Result<NamedTensors> padded(const NamedTensors& source) const;
  Status check(std::span<const int64_t> tokens) const;
  size_t chunk_for(int64_t tokens) const;
  Status run(size_t plan, std::span<const int64_t> tokens);

  SetSession session_;
  std::vector<int64_t> chunks_;  // the sizes that there are plans for, ascending
  std::vector<size_t> plan_of_;  // by chunk
  std::optional<size_t> encoder_;
  bool has_read_ = false;
  std::vector<Ring> rings_;
  int64_t most_ = 0, vocabulary_ = 0, length_ = 0, runs_ = 0;
  int64_t written_ = 0;  // places that caches may hold values of, padding and forgotten ones included
  std::optional<Tensor> logits_;
};

}  // namespace rung
