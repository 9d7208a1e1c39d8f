// LanguageModel, TextSession and Generation as Python sees them: names, signatures, docstrings.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "core/errors.hpp"
#include "core/language_model.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

#define RUNG_PROMPT_TYPE "rung._types.Prompt"
#define RUNG_GENERATE_ARGUMENTS                                                                              \
  "new: int = 128, temperature: float | None = None, top_k: int | None = None, top_p: float | None = None, " \
  "min_p: float | None = None, repetition_penalty: float | None = None, seed: int = 0, "                     \
  "stop: str | collections.abc.Sequence[str] = (), "                                                         \
  "speculate: typing.Literal['off', 'on', 'auto'] | None = None, draft: LanguageModel | None = None, "       \
  "draft_tokens: int | None = None, timestamps: bool = False) -> Generation"

constexpr const char* kGenerate = R"(Makes a text, token by token: an iterator of rung.Piece.

`prompt` is a text for the model's tokenizer, a chat (a list of messages, each a dict with "role" and "content") for its
chat template, or token ids. The prompt is read before this returns; then each step makes one token. The text ends after
`new` tokens, with a token that the model's files name, before a `stop` string, or where the caches are full.

The settings of sampling that are None are the model's own, of generation_config.json; without such a file the likeliest
token is taken. temperature=0 takes the likeliest token; top_k keeps that number of the likeliest tokens (0: all), top_p
those that have this probability together, min_p those whose probability is this part of the likeliest one's;
repetition_penalty makes tokens that the text has less likely (1: none). Equal seeds make equal texts.

speculate="on" reads draft tokens ahead, so that one run may make several tokens: the guesses of `draft`, a smaller model
with the same tokens, `draft_tokens` at once (None: 4, or as many as one run can read), or without a draft what stands
behind an earlier place of the text that ended alike. "auto" stops that once the measured time per token shows that it is
slower. None: "auto" with a draft, else "off". The text is the same in any case. The session keeps the draft's caches
until it gets another draft.

timestamps=True lets the text say when its parts begin and end, as Whisper's texts do; figures() then has `segments`.

Ctrl-C while the prompt is read comes out as KeyboardInterrupt; the text then ends with what was read. Between tokens it
leaves a text that ends with the last token. The GIL is released while it works.

Errors: UsageError, an empty prompt, a setting out of its range, more tokens than there is room for, or a token that the
model does not know; MismatchError, the model has no tokenizer or no chat template, or the draft has other tokens or an
encoder; Error, the template refuses the chat;
DeviceError; OutOfMemoryError.)";

constexpr const char* kSessionGenerate = R"(Makes a text behind the session's own, as LanguageModel.generate() does.

Without a prompt the text goes on. A text prompt behind a text gets no special tokens around it; a chat is a whole text,
so reset() comes before it. The new tokens are part of the session's text, also if you stop to iterate.

Errors: those of LanguageModel.generate(); UsageError also from the iterator, where another call changed the session's
text meanwhile.)";

constexpr const char* kFeed = R"(Appends tokens to the text: the scores of the token behind them, float32 of NumPy.

`tokens` is a sequence of ints. Empty: the scores behind the text that there is. The array has one score for each token
that the model knows, and is the caller's own.

Errors: UsageError, a token that the model does not know, more tokens than there is room for, or no text: the text stays
as it was; also closed, or in use by another thread; DeviceError; OutOfMemoryError.)";

constexpr const char* kRead = R"(Reads a source with the model's encoder, and begins an empty text about it.

`source` maps names of the encoder's inputs to arrays in host memory: {"input_features": spectrum} for a Whisper, a text's
tokens {"input_ids": ids} for a T5. Texts that later calls begin are about it, too: a generation without a prompt begins
with the tokens that the model's files name.

Errors: UsageError, the model has no encoder, or more tokens than it reads; MismatchError, an input that it does not have,
another type or shape; DeviceError; OutOfMemoryError.)";

constexpr const char* kTruncate = R"(Forgets all tokens from place `length` on; the text goes on from there.

Errors: UsageError, a length beyond the text's, or one from which a layer with a sliding window cannot go on: the text
stays as it was.)";

constexpr const char* kFork = R"(A second session whose text begins as a copy of this one; neither changes the other.

It has caches and threads of its own over the model's weights: texts with a common beginning read it once. Errors:
OutOfMemoryError; DeviceError.)";

constexpr const char* kTokens =
    R"(The tokens of a prompt: a text, or a chat as its template writes it, as generate() reads it.

Errors: UsageError, an empty prompt; MismatchError, the model has no tokenizer or no chat template; Error, the template
refuses the chat.)";

constexpr const char* kText = "The text of token ids, as Model.decode() makes it.";
constexpr const char* kTextSignature =
    "def decode(self, ids: collections.abc.Sequence[int] | typing.Any, skip_special_tokens: bool = True, *, "
    "clean_up_tokenization_spaces: bool | None = None) -> str";

constexpr const char* kFigures =
    R"(What was made so far, and what it took: the object that `rung generate --json` prints.

The first call in a process measures how fast memory is read.)";

std::vector<std::string> stops_of(nb::handle stop) {
  std::vector<std::string> stops;
  if (nb::isinstance<nb::str>(stop)) {
    stops.push_back(c_text_of(stop, "stop"));
    return stops;
  }
  if (!PySequence_Check(stop.ptr())) raise(RUNG_USAGE, "stop: got " + shown(stop) + ", wanted a str or several");
  for (nb::handle one : nb::iter(stop)) stops.push_back(c_text_of(one, "stop"));
  return stops;
}

rung_speculate speculate_of(const std::optional<std::string>& word) {
  if (!word) return RUNG_SPECULATE_USUAL;
  if (word == "off") return RUNG_SPECULATE_OFF;
  if (word == "on") return RUNG_SPECULATE_ON;
  if (word == "auto") return RUNG_SPECULATE_AUTO;
  raise(RUNG_USAGE, "speculate: got '" + *word + "', wanted 'off', 'on' or 'auto'");
}

// The C interface takes 0 for the usual number.
int64_t tokens_of_draft(std::optional<int64_t> tokens) {
  if (tokens && *tokens < 1) raise(RUNG_USAGE, "draft_tokens: got " + std::to_string(*tokens) + ", wanted 1 or more");
  return tokens.value_or(0);
}

using Number = std::optional<double>;

template <class T, class... Extra>
void bind_generate(nb::class_<T>& type, const char* signature, const char* doc, const Extra&... prompt_default) {
  type.def(
      "generate",
      [](T& self, nb::handle prompt, int64_t most, Number temperature, std::optional<int64_t> top_k, Number top_p,
         Number min_p, Number repetition_penalty, uint64_t seed, nb::handle stop,
         const std::optional<std::string>& speculate, const LanguageModel* draft, std::optional<int64_t> draft_tokens,
         bool timestamps) {
        return self.generate(prompt, {most, temperature, top_p, min_p, repetition_penalty, top_k, seed, stops_of(stop),
                                      speculate_of(speculate), draft ? draft->handle() : nullptr,
                                      tokens_of_draft(draft_tokens), timestamps});
      },
      prompt_default..., nb::kw_only(), nb::arg("new") = 128, nb::arg("temperature") = nb::none(),
      nb::arg("top_k") = nb::none(), nb::arg("top_p") = nb::none(), nb::arg("min_p") = nb::none(),
      nb::arg("repetition_penalty") = nb::none(), nb::arg("seed") = 0, nb::arg("stop") = nb::tuple(),
      nb::arg("speculate") = nb::none(), nb::arg("draft") = nb::none(), nb::arg("draft_tokens") = nb::none(),
      nb::arg("timestamps") = false, nb::sig(signature), doc);
}

void bind_generation(nb::module_& module) {
  nb::class_<Generation>(module, "Generation",
                         "A text as it is made: an iterator of rung.Piece, made by generate(). Join the pieces' texts.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> Generation"))
      .def("__next__", &Generation::next, nb::sig("def __next__(self) -> rung._types.Piece"))
      .def("figures", &Generation::figures, nb::sig("def figures(self) -> rung._types.Generated"), kFigures);
}

void bind_text_session(nb::module_& module) {
  nb::class_<TextSession> type(module, "TextSession",
                               "A text with what the model remembers of it: caches and threads of its own over the "
                               "model's weights. One thread at a time uses it. Made by LanguageModel.session().");
  type.def("feed", &TextSession::feed, nb::arg("tokens"),
           nb::sig("def feed(self, tokens: collections.abc.Sequence[int] | typing.Any) -> typing.Any"), kFeed)
      .def("read", &TextSession::read, nb::arg("source"),
           nb::sig("def read(self, source: dict[str, typing.Any]) -> None"), kRead)
      .def("truncate", &TextSession::truncate, nb::arg("length"), kTruncate)
      .def(
          "reset", [](TextSession& self) { self.truncate(0); }, "Begins a new text. Errors: DeviceError.")
      .def("fork", &TextSession::fork, kFork)
      .def_prop_ro("tokens", &TextSession::tokens, nb::sig("def tokens(self) -> list[int]"), "The text's tokens.")
      .def_prop_ro("length", &TextSession::length, "The number of the text's tokens.")
      .def("close", &TextSession::close, "Ends it; its forks and generations stay.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> TextSession"))
      .def(
          "__exit__", [](TextSession& self, const nb::args&) { self.close(); },
          nb::sig("def __exit__(self, *_: object) -> None"));
  bind_generate(type, "def generate(self, prompt: " RUNG_PROMPT_TYPE " | None = None, *, " RUNG_GENERATE_ARGUMENTS,
                kSessionGenerate, nb::arg("prompt").none() = nb::none());
}

}  // namespace

void bind_language_models(nb::module_& module) {
  bind_generation(module);
  bind_text_session(module);
  nb::class_<LanguageModel> type(module, "LanguageModel",
                                 "A decoder language model with its tokenizer, made by rung.load_language_model(). Any "
                                 "number of threads may use one.");
  type.def_prop_ro("vocabulary", &LanguageModel::vocabulary, "The number of tokens that the model knows.")
      .def_prop_ro("most_tokens", &LanguageModel::most_tokens, "The most tokens of a text, prompt included.")
      .def("tokens", &LanguageModel::tokens, nb::arg("prompt"),
           nb::sig("def tokens(self, prompt: " RUNG_PROMPT_TYPE ") -> list[int]"), kTokens)
      .def("decode", &LanguageModel::decode, nb::arg("ids"), nb::arg("skip_special_tokens") = true, nb::kw_only(),
           nb::arg("clean_up_tokenization_spaces") = nb::none(), nb::sig(kTextSignature), kText)
      .def("session", &LanguageModel::session,
           "A session with an empty text. Errors: OutOfMemoryError; DeviceError; UsageError, the model is closed.")
      .def("close", &LanguageModel::close, "Ends it; its sessions and generations stay.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> LanguageModel"))
      .def(
          "__exit__", [](LanguageModel& self, const nb::args&) { self.close(); },
          nb::sig("def __exit__(self, *_: object) -> None"))
      .def("__repr__", &LanguageModel::repr);
  bind_generate(type, "def generate(self, prompt: " RUNG_PROMPT_TYPE ", *, " RUNG_GENERATE_ARGUMENTS, kGenerate,
                nb::arg("prompt").none());
  module.def("load_language_model", &load_language_model, nb::arg("path").none(), nb::arg("options"),
             nb::sig("def load_language_model(path: str | bytes | os.PathLike[str], options: dict[str, typing.Any]) -> "
                     "LanguageModel"),
             "Opens a decoder language model; rung.load_language_model() says more.");
}

}  // namespace rung::python
