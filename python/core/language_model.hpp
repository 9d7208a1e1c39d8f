// Decoder language models, sessions that remember a text, and generations that make one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rung/language_model.h"

namespace rung::python {

namespace nb = nanobind;

using LanguageHandle = std::shared_ptr<rung_language_model>;
using TextHandle = std::shared_ptr<rung_text_session>;
using GenerationHandle = std::shared_ptr<rung_generation>;

// What generate() is asked for; what is none, or -1, is the model's own.
struct GenerateOptions {
  int64_t most = 128;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int64_t> top_k;
  uint64_t seed = 0;
  std::vector<std::string> stops;
  rung_speculate speculate = RUNG_SPECULATE_USUAL;
  LanguageHandle draft;      // null: none
  int64_t draft_tokens = 0;  // 0: the usual
  bool timestamps = false;
};

// A text as it is made: an iterator of rung.Piece.
class Generation {
 public:
  explicit Generation(GenerationHandle handle) : handle_(std::move(handle)) {}
  // The next piece. Errors: StopIteration, the text has ended.
  nb::object next();
  // What was made so far: rung.Generated.
  nb::object figures();

 private:
  GenerationHandle handle_;
  bool in_use_ = false;  // the last piece's text is the library's until it is copied
};

// Calls hold the handle as long as they run, so that another thread may close the session meanwhile.
class TextSession {
 public:
  // A session with an empty text.
  explicit TextSession(LanguageHandle model);
  TextSession(LanguageHandle model, TextHandle handle) : model_(std::move(model)), handle_(std::move(handle)) {}
  // The scores behind the tokens: float32 of NumPy.
  nb::object feed(nb::handle tokens);
  // `source` maps names of the encoder's inputs to arrays.
  void read(const nb::dict& source);
  void truncate(int64_t length);
  std::unique_ptr<TextSession> fork();
  nb::list tokens();
  int64_t length();
  std::unique_ptr<Generation> generate(nb::handle prompt, const GenerateOptions& options);
  void close() { handle_.reset(), model_.reset(); }

 private:
  // Errors: UsageError, it is closed.
  TextHandle handle() const;
  LanguageHandle model_;
  TextHandle handle_;
};

class LanguageModel {
 public:
  explicit LanguageModel(LanguageHandle handle) : handle_(std::move(handle)) {}
  int64_t vocabulary() const { return rung_language_model_vocabulary(handle().get()); }
  int64_t most_tokens() const { return rung_language_model_most_tokens(handle().get()); }
  nb::list tokens(nb::handle prompt);
  std::string decode(nb::handle ids, bool skips_special, nb::handle cleans_up);
  std::unique_ptr<TextSession> session() const { return std::make_unique<TextSession>(handle()); }
  std::unique_ptr<Generation> generate(nb::handle prompt, const GenerateOptions& options) const {
    return session()->generate(prompt, options);
  }
  void close() { handle_.reset(); }
  std::string repr() const;
  // Errors: UsageError, it is closed.
  LanguageHandle handle() const;

 private:
  LanguageHandle handle_;
};

// rung.load_language_model(): `options` as OpenOptions takes them, and "cache".
std::unique_ptr<LanguageModel> load_language_model(nb::handle path, const nb::dict& options);

void bind_language_models(nb::module_& module);

}  // namespace rung::python
