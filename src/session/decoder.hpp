// A decoder language model at work: takes tokens, gives the scores of the next one, and remembers the text between
// calls in the states of its plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>

#include "base/interrupted.hpp"
#include "session/set_session.hpp"

namespace rung {

// Returns the input that takes the tokens of a decoder's chunk, decoder_input_ids or input_ids; null: there is none.
const PlanInput* tokens_of(const Plan& plan);

// The plans of a set are those of one decoder for chunks of several sizes: they take input_ids i64[1,S] and count
// i64[1], the number of them that are real, give logits f32[1,V] of the last real one or f32[S,V] of all, and keep the
// number of tokens before the chunk in the state "position" (import/model.hpp, DecoderCache). With an encoder there is
// one more plan, which writes states that those of the decoder read, and their tokens are decoder_input_ids.
class Decoder {
 public:
  // Errors (mismatch): a plan that is none of a decoder's, naming what it lacks; those of SetSession::create().
  static Result<Decoder> create(PlanSet plans);

  // With an encoder: reads a source and begins a new text about it. A text of tokens, input_ids i64[1,E], may be
  // shorter than the plan's. Errors: there is no encoder, inputs that it does not have, more tokens than it reads
  // (wrong usage): source and text stay. A device that failed: both are lost.
  Status read(const NamedTensors& source);
  bool has_encoder() const { return encoder_.has_value(); }

  // Appends tokens to the text and reads it to its end, in as few runs as their number allows; logits() are then those
  // behind the last one. Without tokens it only reads; a text whose scores truncate() took away is read by its last
  // token again. Errors: no source where there is an encoder, nothing to read, more than the text has room for, a token
  // that the model does not have: the text stays as it was. Interrupted between two runs: the text ends with what was
  // read. A device that failed: the text is lost, and reset() begins a new one, or with an encoder read().
  Status take(std::span<const int64_t> tokens, const Interrupted& interrupted = {});
  // Appends a token that the model has, without reading it: the next take() does.
  void append(int64_t token);
  // Scores of the next token, f32[1,V], behind the last one. Null before the first one, or while one is not read.
  const Tensor* logits() const { return text_.logits && unread() == 0 ? &*text_.logits : nullptr; }

  // Reads what append() left, and draft tokens behind it that are not the text's, in one run: append() of a token as it
  // was drafted then needs no run, and of another one forgets the drafts. Errors: no token that is not read, or more
  // drafts than most_drafts() (wrong usage); the device failed.
  Status take_ahead(std::span<const int64_t> drafts);
  // Returns how many drafts one run takes now; 0: no token waits to be read, no plan gives all scores of a chunk, or a
  // layer with a sliding window would forget what the text still needs.
  int64_t most_drafts() const;
  int64_t scored_chunk() const { return scored_chunk_; }  // the largest one whose plan gives all scores; 0: none
  int64_t accepted() const { return accepted_; }          // drafts that became the text's, since create()

  // Forgets all tokens from place `length` on; the next take() continues there, about the same source. Errors: a length
  // beyond the text's, or one whose last tokens a layer with a sliding window no longer remembers (wrong usage): the
  // text stays.
  Status truncate(int64_t length);
  Status reset() { return truncate(0); }
  // Makes a decoder of the same plans with threads and memory of its own, whose text begins as a copy of this one.
  // Errors: those of SetSession::fork().
  Result<Decoder> fork();

  // Returns copies of what the plans remember of the text and its source, by name. Errors: the device failed.
  Result<NamedTensors> states() { return session_.states(); }

  const std::vector<int64_t>& tokens() const { return text_.tokens; }
  int64_t length() const { return static_cast<int64_t>(text_.tokens.size()); }
  int64_t most_tokens() const { return most_; }       // that a text can have
  int64_t vocabulary() const { return vocabulary_; }  // V
  uint64_t weight_bytes() const { return session_.plans().weight_bytes(); }
  int64_t runs() const { return runs_; }  // since create()
  // The session of the smallest chunk, for someone who runs it by itself: from the one token that is not read on, he
  // reads each token that he makes but the last. begin_ahead() is called before, and read_ahead() afterwards.
  Session& smallest() { return session_[plan_of_[0]]; }
  int64_t smallest_chunk() const { return chunks_[0]; }
  // Errors: more or fewer tokens than one are not read (wrong usage); the device failed.
  Status begin_ahead();
  // The tokens made are not the text's: append() of one as it was made needs no run.
  void read_ahead(std::span<const int64_t> made);
  // The most tokens that may be made so, and none of them be the text's after all, whatever the text's length.
  int64_t most_made_ahead() const;
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

  struct Text {
    bool has_source = false;  // that an encoder has read
    std::vector<int64_t> tokens;
    int64_t read = 0;                     // of them, which the states know
    int64_t written = 0;                  // places that caches may hold values of, padding and forgotten ones included
    int64_t position = 0;                 // as the state says; drafts that were not accepted are behind the tokens read
    std::vector<int64_t> ahead;           // drafts that the caches hold behind the last token
    std::shared_ptr<Tensor> scores = {};  // of the last run, f32[1,V] or f32[S,V]
    int64_t row = 0;                      // of the scores, behind the last token read
    std::optional<Tensor> logits = {};    // that row
  };

  explicit Decoder(SetSession session) : session_(std::move(session)) {}
  static Result<Decoder> over(SetSession session);
  int64_t unread() const { return length() - text_.read; }
  Status read_plans();
  void read_bounds(const Plan& plan);
  Result<NamedTensors> padded(const NamedTensors& source) const;
  Status check(std::span<const int64_t> tokens) const;
  size_t chunk_for(int64_t tokens) const;
  Status run(size_t chunk, size_t count, std::span<const int64_t> drafts = {});
  void set_row(int64_t row);
  Status check_truncation(int64_t length) const;
  Status go_back(int64_t length);

  SetSession session_;
  std::vector<int64_t> chunks_;  // the sizes that there are plans for, ascending
  std::vector<size_t> plan_of_;  // by chunk
  std::optional<size_t> encoder_;
  std::vector<Ring> rings_;
  int64_t scored_chunk_ = 0;
  int64_t most_ = 0, vocabulary_ = 0, runs_ = 0, accepted_ = 0;
  Text text_;
};

}  // namespace rung
