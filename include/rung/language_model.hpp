// Decoder language models: sessions that remember a text, and generations that make one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/language_model.h>
#include <rung/model.hpp>
#include <rung/status.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::api {

// Options for opening a language model.
struct LanguageOptions {
  Options model = {};  // without shapes
  // The most tokens of a text, for a model directory; 0: the usual. See rung_language_options.
  int64_t cache = 0;
  int64_t source = 0;  // of a directory whose encoder reads texts: the most tokens of one; 0: a usual number
};

// The beginning of a text: one of the three, or none behind a text. See rung_prompt.
struct Prompt {
  std::string text = {};  // for the model's tokenizer
  std::string chat = {};  // JSON: a list of messages, for the model's chat template
  std::vector<int64_t> tokens = {};
};

// The use of draft tokens. See rung_speculate.
enum class Speculate {
  off = RUNG_SPECULATE_OFF,
  on = RUNG_SPECULATE_ON,
  automatic = RUNG_SPECULATE_AUTO,
  usual = RUNG_SPECULATE_USUAL,
};

class LanguageModel;

// How a text is made. Settings that are left out are the model's own. See rung_generate_options.
struct GenerateOptions {
  int64_t most = 128;  // new tokens
  std::optional<double> temperature = {}, top_p = {}, min_p = {}, repetition_penalty = {};
  std::optional<int64_t> top_k = {};
  uint64_t seed = 0;
  std::vector<std::string> stops = {};  // strings that end the text where they begin
  // Asked between the runs that read the prompt; false: the call ends with Kind::interrupted. Empty: they go on.
  std::function<bool()> goes_on = {};
  Speculate speculate = Speculate::usual;
  const LanguageModel* draft = nullptr;  // a smaller model, whose guesses are read ahead
  int64_t draft_tokens = 0;              // that it guesses at once; 0: the usual
  bool timestamps = false;               // the text says when its parts begin and end, as Whisper's texts do
};

// A token with the text that is certain with it.
struct Piece {
  int64_t token = 0;
  std::string text;
};

namespace detail {

// A prompt with what its pointers refer to: `from` must stay unchanged.
inline rung_prompt c_prompt(const Prompt& from) {
  rung_prompt prompt RUNG_PROMPT_INIT;
  if (!from.text.empty()) prompt.text = from.text.data();
  prompt.text_bytes = from.text.size();
  if (!from.chat.empty()) prompt.chat = from.chat.c_str();
  prompt.tokens = from.tokens.data();
  prompt.token_count = from.tokens.size();
  return prompt;
}

// The options with what their pointers refer to.
struct CGenerateOptions {
  explicit CGenerateOptions(const GenerateOptions& from);  // defined behind LanguageModel
  CGenerateOptions(const CGenerateOptions&) = delete;
  CGenerateOptions& operator=(const CGenerateOptions&) = delete;
  std::vector<const char*> stops;
  std::function<bool()> goes_on;
  rung_generate_options options RUNG_GENERATE_OPTIONS_INIT;
};

// Returns the tokens that a call gives which says first how many there are.
template <class Give>
Result<std::vector<int64_t>> tokens_given(const Give& give) {
  std::vector<int64_t> tokens;
  for (;;) {
    rung_tokens place{tokens.data(), tokens.size(), 0};
    if (auto code = give(&place)) return Status::of(code);
    const bool fits = place.count <= tokens.size();
    tokens.resize(place.count);
    if (fits) return tokens;
  }
}

}  // namespace detail

// A text as it is made, token by token.
class Generation {
 public:
  // Makes the next piece; nullopt: the text has ended. See rung_generation_next().
  Result<std::optional<Piece>> next() {
    rung_piece piece{};
    if (auto code = rung_generation_next(handle_.get(), &piece)) return Status::of(code);
    if (piece.token < 0) return std::optional<Piece>();
    return std::optional(Piece{piece.token, std::string(piece.text, piece.text_bytes)});
  }
  // Returns what was made so far, as `rung generate --json` prints it. See rung_generation_json().
  Result<std::string> json() {
    char* text = nullptr;
    if (auto code = rung_generation_json(handle_.get(), &text)) return Status::of(code);
    const std::unique_ptr<char, detail::Closer<&rung_free>> owner(text);
    return std::string(text);
  }
  // Returns the handle for the C interface; this object still owns it.
  rung_generation* handle() const { return handle_.get(); }

 private:
  friend class TextSession;
  explicit Generation(rung_generation* handle) : handle_(handle) {}
  std::unique_ptr<rung_generation, detail::Closer<&rung_generation_close>> handle_;
};

// A text with what the model remembers of it. One thread at a time uses it.
class TextSession {
 public:
  // Appends tokens to the text and returns the scores of the token behind them; without tokens, those behind the text
  // that there is. See rung_text_session_feed().
  Result<std::vector<float>> feed(const std::vector<int64_t>& tokens) {
    std::vector<float> logits(vocabulary_);
    if (auto code = rung_text_session_feed(handle_.get(), tokens.data(), tokens.size(), logits.data(), logits.size()))
      return Status::of(code);
    return logits;
  }
  // Reads a source with the model's encoder, and begins an empty text about it. See rung_text_session_read().
  Status read(const Tensors& source) {
    if (Status status = detail::check_bytes(source); !status) return status;
    const detail::CTensors c(source);
    return Status::of(rung_text_session_read(handle_.get(), c.named.data(), c.named.size()));
  }
  // Forgets all tokens from place `length` on. See rung_text_session_truncate().
  Status truncate(int64_t length) { return Status::of(rung_text_session_truncate(handle_.get(), length)); }
  // Begins a new text.
  Status reset() { return truncate(0); }
  // Opens a second session whose text begins as a copy of this one. See rung_text_session_fork().
  Result<TextSession> fork() {
    rung_text_session* other = nullptr;
    if (auto code = rung_text_session_fork(handle_.get(), &other)) return Status::of(code);
    return TextSession(other, vocabulary_);
  }
  // Returns the text's tokens.
  Result<std::vector<int64_t>> tokens() const {
    return detail::tokens_given([&](rung_tokens* place) { return rung_text_session_tokens(handle_.get(), place); });
  }
  // Reads a prompt behind the text and begins a generation, which may outlive this object. See rung_generation_open().
  Result<Generation> generate(const Prompt& prompt = {}, const GenerateOptions& options = {}) {
    if (Status status = detail::check_nul("chat", prompt.chat); !status) return status;
    if (Status status = detail::check_nuls("stops", options.stops); !status) return status;
    const rung_prompt form = detail::c_prompt(prompt);
    detail::CGenerateOptions how(options);
    rung_generation* generation = nullptr;
    if (auto code = rung_generation_open(handle_.get(), &form, &how.options, &generation)) return Status::of(code);
    return Generation(generation);
  }
  // Returns the handle for the C interface; this object still owns it.
  rung_text_session* handle() const { return handle_.get(); }

 private:
  friend class LanguageModel;
  TextSession(rung_text_session* handle, size_t vocabulary) : handle_(handle), vocabulary_(vocabulary) {}
  std::unique_ptr<rung_text_session, detail::Closer<&rung_text_session_close>> handle_;
  size_t vocabulary_;
};

// A decoder language model. Copies are the same model; any number of threads may use one.
class LanguageModel {
 public:
  // Opens a model directory, or a plan file that was built with a cache. See rung_language_model_open().
  static Result<LanguageModel> open(const std::string& path, const LanguageOptions& options = {}) {
    if (Status status = detail::check_nuls(path, options.model); !status) return status;
    const detail::COptions model(options.model);
    rung_language_options c RUNG_LANGUAGE_OPTIONS_INIT;
    c.model = &model.options;
    c.cache = options.cache;
    rung_language_model* opened = nullptr;
    if (auto code = rung_language_model_open(path.c_str(), &c, &opened)) return Status::of(code);
    return LanguageModel(opened);
  }

  // Returns the number of tokens that the model knows, and the most tokens of a text.
  int64_t vocabulary() const { return rung_language_model_vocabulary(handle_.get()); }
  int64_t most_tokens() const { return rung_language_model_most_tokens(handle_.get()); }

  // Returns the tokens of a prompt. See rung_language_model_tokens().
  Result<std::vector<int64_t>> tokens(const Prompt& prompt) const {
    if (Status status = detail::check_nul("chat", prompt.chat); !status) return status;
    const rung_prompt form = detail::c_prompt(prompt);
    return detail::tokens_given(
        [&](rung_tokens* place) { return rung_language_model_tokens(handle_.get(), &form, place); });
  }
  // Returns the text of token ids. See rung_language_model_decode().
  Result<std::string> decode(const std::vector<int64_t>& ids, DecodeOptions options = {}) const {
    return detail::decoded(ids, options, [&](const rung_decode_options& how, rung_text* place) {
      return rung_language_model_decode(handle_.get(), ids.data(), ids.size(), &how, place);
    });
  }

  // Opens a session with an empty text; it may outlive this object. See rung_text_session_open().
  Result<TextSession> session() const {
    rung_text_session* session = nullptr;
    if (auto code = rung_text_session_open(handle_.get(), &session)) return Status::of(code);
    return TextSession(session, static_cast<size_t>(vocabulary()));
  }
  // Makes a text in a session of its own.
  Result<Generation> generate(const Prompt& prompt, const GenerateOptions& options = {}) const {
    Result<TextSession> session = this->session();
    if (!session) return session.error();
    return session->generate(prompt, options);
  }
  // Returns the handle for the C interface; this object still owns it.
  rung_language_model* handle() const { return handle_.get(); }

 private:
  explicit LanguageModel(rung_language_model* handle) : handle_(handle, &rung_language_model_close) {}
  std::shared_ptr<rung_language_model> handle_;
};

namespace detail {

inline CGenerateOptions::CGenerateOptions(const GenerateOptions& from)
    : stops(c_strings(from.stops)), goes_on(from.goes_on) {
  options.most = from.most;
  options.temperature = from.temperature.value_or(-1);
  options.top_p = from.top_p.value_or(-1);
  options.min_p = from.min_p.value_or(-1);
  options.repetition_penalty = from.repetition_penalty.value_or(-1);
  options.top_k = from.top_k.value_or(-1);
  options.seed = from.seed;
  options.stops = stops.data();
  options.stop_count = stops.size();
  if (goes_on) options.goes_on = [](void* self) { return static_cast<CGenerateOptions*>(self)->goes_on(); };
  options.context = this;
  options.speculate = static_cast<rung_speculate>(from.speculate);
  if (from.draft) options.draft = from.draft->handle();
  options.draft_tokens = from.draft_tokens;
  options.timestamps = from.timestamps;
}

}  // namespace detail

// FAST's tokenizer of a robot's actions. Copies are the same tokenizer; any number of threads may use one. See
// rung_action_tokenizer.
class ActionTokenizer {
 public:
  // Opens a directory; the shape has the sizes that its files do not say. See rung_action_tokenizer_open().
  static Result<ActionTokenizer> open(const std::string& directory, rung_action_shape shape = {}) {
    rung_action_tokenizer* tokenizer = nullptr;
    if (auto code = rung_action_tokenizer_open(directory.c_str(), &shape, &tokenizer)) return Status::of(code);
    return ActionTokenizer(tokenizer);
  }
  // Returns the sizes of a chunk.
  rung_action_shape shape() const { return rung_action_tokenizer_shape(handle_.get()); }
  // Returns the tokens of a chunk, row by row. See rung_action_tokenizer_encode().
  Result<std::vector<int64_t>> encode(const std::vector<double>& actions) const {
    return detail::tokens_given([&](rung_tokens* place) {
      return rung_action_tokenizer_encode(handle_.get(), actions.data(), actions.size(), place);
    });
  }
  // Returns the chunk of tokens, row by row. See rung_action_tokenizer_decode().
  Result<std::vector<double>> decode(const std::vector<int64_t>& tokens) const {
    return actions([&](double* to, size_t count) {
      return rung_action_tokenizer_decode(handle_.get(), tokens.data(), tokens.size(), to, count);
    });
  }
  // Returns the chunk that a policy wrote, whose language model has `vocabulary` tokens. See
  // rung_action_tokenizer_decode_policy().
  Result<std::vector<double>> decode_policy(const std::vector<int64_t>& written, int64_t vocabulary,
                                            int64_t skipped = 128) const {
    const rung_policy_tokens tokens{written.data(), written.size(), vocabulary, skipped};
    return actions([&](double* to, size_t count) {
      return rung_action_tokenizer_decode_policy(handle_.get(), &tokens, to, count);
    });
  }
  // Returns the handle for the C interface; this object still owns it.
  rung_action_tokenizer* handle() const { return handle_.get(); }

 private:
  explicit ActionTokenizer(rung_action_tokenizer* handle) : handle_(handle, &rung_action_tokenizer_close) {}
  template <class Decode>
  Result<std::vector<double>> actions(const Decode& decode) const {
    const rung_action_shape sizes = shape();
    std::vector<double> values(static_cast<size_t>(sizes.horizon * sizes.dims));
    if (auto code = decode(values.data(), values.size())) return Status::of(code);
    return values;
  }
  std::shared_ptr<rung_action_tokenizer> handle_;
};

}  // namespace rung::api
