// Reads prompts in any form, and lets go of the GIL while the library works.
// SPDX-License-Identifier: Apache-2.0
#include "core/language_model.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "core/arrays.hpp"
#include "core/decoded.hpp"
#include "core/errors.hpp"
#include "core/gil.hpp"
#include "core/hearing.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

// A text, a list of messages or token ids, as the C interface takes them; None: no prompt.
class Prompt {
 public:
  explicit Prompt(nb::handle prompt) {
    if (prompt.is_none()) return;
    if (nb::isinstance<nb::str>(prompt)) {
      text_ = utf8_of(prompt, "prompt");
      prompt_.text = text_.data();
      prompt_.text_bytes = text_.size();
    } else if (is_chat(prompt)) {
      chat_ = json_of(prompt);
      prompt_.chat = chat_.c_str();
    } else {
      tokens_ = token_ids(prompt);
      prompt_.tokens = tokens_.data();
      prompt_.token_count = tokens_.size();
    }
  }
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;
  const rung_prompt* get() const { return &prompt_; }

 private:
  static bool is_chat(nb::handle prompt) {
    const bool is_list = nb::isinstance<nb::list>(prompt) || nb::isinstance<nb::tuple>(prompt);
    return is_list && nb::len(prompt) > 0 && nb::isinstance<nb::dict>(prompt[0]);
  }
  static std::string json_of(nb::handle messages) {
    try {
      return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(messages));
    } catch (nb::python_error& error) {
      raise(RUNG_USAGE, "prompt: got messages that are not JSON: " + text_of(error.value()));
    }
  }

  rung_prompt prompt_ = RUNG_PROMPT_INIT;
  std::string text_, chat_;
  std::vector<int64_t> tokens_;
};

nb::list list_of(const std::vector<int64_t>& tokens) {
  nb::list list;
  for (int64_t token : tokens) list.append(token);
  return list;
}

// The tokens that a call gives which says first how many there are.
template <class Give>
std::vector<int64_t> tokens_of(const Give& give) {
  std::vector<int64_t> tokens;
  for (;;) {
    rung_tokens place{tokens.data(), tokens.size(), 0};
    check(without_gil([&] { return give(&place); }));
    const bool fits = place.count <= tokens.size();
    tokens.resize(place.count);
    if (fits) return tokens;
  }
}

bool prompt_goes_on(void* context) {
  return heard(*static_cast<std::exception_ptr*>(context), [] {});
}

}  // namespace

nb::object Generation::next() {
  if (in_use_) raise(RUNG_USAGE, "the generation is in use by another thread");
  in_use_ = true;
  rung_piece piece{};
  const rung_status status = without_gil([&] { return rung_generation_next(handle_.get(), &piece); });
  in_use_ = false;  // no other thread runs Python before the text is copied
  check(status);
  if (piece.token < 0) throw nb::stop_iteration();
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(piece.text, static_cast<Py_ssize_t>(piece.text_bytes), "replace"));
  if (!text.is_valid()) throw nb::python_error();
  return nb::module_::import_("rung._types").attr("Piece")(text, piece.token);
}

nb::object Generation::figures() {
  char* json = nullptr;
  check(without_gil([&] { return rung_generation_json(handle_.get(), &json); }));
  const std::unique_ptr<char, decltype(&rung_free)> owned(json, rung_free);
  return nb::module_::import_("json").attr("loads")(json);
}

TextSession::TextSession(LanguageHandle model) : model_(std::move(model)) {
  rung_text_session* opened = nullptr;
  check(without_gil([&] { return rung_text_session_open(model_.get(), &opened); }));
  handle_ = TextHandle(opened, rung_text_session_close);
}

TextHandle TextSession::handle() const {
  if (!handle_) raise(RUNG_USAGE, "the session is closed");
  return handle_;
}

nb::object TextSession::feed(nb::handle tokens) {
  const TextHandle open = handle();
  const std::vector<int64_t> numbers = token_ids(tokens);
  int64_t vocabulary = rung_language_model_vocabulary(model_.get());
  auto logits = std::make_shared<std::vector<float>>(static_cast<size_t>(vocabulary));
  check(without_gil([&] {
    return rung_text_session_feed(open.get(), numbers.data(), numbers.size(), logits->data(), logits->size());
  }));
  const rung_tensor tensor{logits->data(), {RUNG_CPU, 0}, 1, {RUNG_FLOAT, 32, 1}, &vocabulary, nullptr, 0};
  return array_over(tensor, own(logits));
}

void TextSession::read(const nb::dict& source) {
  const TextHandle open = handle();
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Borrowed>> arrays;
  for (const auto& [name, array] : source) {
    names.push_back(utf8_of(name, "source"));
    arrays.push_back(std::make_unique<Borrowed>(array, Place{"input", names.back().c_str()}, false));
  }
  std::vector<rung_named_tensor> given;
  for (size_t i = 0; i < names.size(); ++i) given.push_back({names[i].c_str(), &arrays[i]->tensor()});
  check(without_gil([&] { return rung_text_session_read(open.get(), given.data(), given.size()); }));
}

void TextSession::truncate(int64_t length) {
  const TextHandle open = handle();
  check(without_gil([&] { return rung_text_session_truncate(open.get(), length); }));
}

std::unique_ptr<TextSession> TextSession::fork() {
  const TextHandle open = handle();
  const LanguageHandle model = model_;
  rung_text_session* other = nullptr;
  check(without_gil([&] { return rung_text_session_fork(open.get(), &other); }));
  return std::make_unique<TextSession>(model, TextHandle(other, rung_text_session_close));
}

nb::list TextSession::tokens() {
  const TextHandle open = handle();
  return list_of(tokens_of([&](rung_tokens* place) { return rung_text_session_tokens(open.get(), place); }));
}

int64_t TextSession::length() {
  const TextHandle open = handle();
  rung_tokens place{nullptr, 0, 0};
  check(rung_text_session_tokens(open.get(), &place));
  return static_cast<int64_t>(place.count);
}

std::unique_ptr<Generation> TextSession::generate(nb::handle prompt, const GenerateOptions& options) {
  const TextHandle open = handle();
  const Prompt form(prompt);
  std::vector<const char*> stops;
  for (const std::string& stop : options.stops) stops.push_back(stop.c_str());
  rung_generate_options with = RUNG_GENERATE_OPTIONS_INIT;
  with.most = options.most;
  with.temperature = options.temperature.value_or(-1);
  with.top_p = options.top_p.value_or(-1);
  with.min_p = options.min_p.value_or(-1);
  with.repetition_penalty = options.repetition_penalty.value_or(-1);
  with.top_k = options.top_k.value_or(-1);
  with.seed = options.seed;
  with.stops = stops.data();
  with.stop_count = stops.size();
  with.speculate = options.speculate;
  with.draft = options.draft.get();
  with.draft_tokens = options.draft_tokens;
  with.timestamps = options.timestamps;
  std::exception_ptr raised;
  with.goes_on = prompt_goes_on;
  with.context = &raised;
  rung_generation* begun = nullptr;
  const rung_status status = without_gil([&] { return rung_generation_open(open.get(), form.get(), &with, &begun); });
  GenerationHandle generation(begun, rung_generation_close);
  if (raised) std::rethrow_exception(raised);
  check(status);
  return std::make_unique<Generation>(std::move(generation));
}

LanguageHandle LanguageModel::handle() const {
  if (!handle_) raise(RUNG_USAGE, "the model is closed");
  return handle_;
}

nb::list LanguageModel::tokens(nb::handle prompt) {
  const LanguageHandle open = handle();
  const Prompt form(prompt);
  return list_of(
      tokens_of([&](rung_tokens* place) { return rung_language_model_tokens(open.get(), form.get(), place); }));
}

std::string LanguageModel::decode(nb::handle ids, bool skips_special, nb::handle cleans_up) {
  const LanguageHandle open = handle();
  return decoded(ids, skips_special, cleans_up, [&](const auto& numbers, const auto& options, rung_text& place) {
    return rung_language_model_decode(open.get(), numbers.data(), numbers.size(), &options, &place);
  });
}

std::string LanguageModel::repr() const {
  if (!handle_) return "<rung.LanguageModel, closed>";
  return "<rung.LanguageModel of " + std::to_string(vocabulary()) + " tokens, for texts of up to " +
         std::to_string(most_tokens()) + ">";
}

std::unique_ptr<LanguageModel> load_language_model(nb::handle where, const nb::dict& options) {
  const std::string path = path_of(where, "path");
  OpenOptions open(options);
  rung_language_options with = RUNG_LANGUAGE_OPTIONS_INIT;
  with.model = open.get();
  if (!nb::try_cast(options["cache"], with.cache))
    raise(RUNG_USAGE, "cache: got " + shown(options["cache"]) + ", wanted a number of tokens");
  if (!nb::try_cast(options["source"], with.source))
    raise(RUNG_USAGE, "source: got " + shown(options["source"]) + ", wanted a number of tokens");
  rung_language_model* opened = nullptr;
  check(without_gil([&] { return rung_language_model_open(path.c_str(), &with, &opened); }));
  return std::make_unique<LanguageModel>(LanguageHandle(opened, rung_language_model_close));
}

}  // namespace rung::python
