// The C interface of rung for texts by decoder language models. The rules of rung.h for errors, handles, threads and
// versions hold here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/rung.h>
// NOLINTBEGIN(modernize-*): C

#ifdef __cplusplus
extern "C" {
#endif

// ---- texts by decoder language models ----

// A decoder language model: plans for chunks of a text over one set of weights, with its tokenizer and its settings.
// Any number of threads may use one.
typedef struct rung_language_model rung_language_model;

// Options for opening one. Start from RUNG_LANGUAGE_OPTIONS_INIT.
typedef struct rung_language_options {
  size_t size;
  const rung_options* model;  // without shapes; NULL: RUNG_OPTIONS_INIT
  // The most tokens of a text, prompt included, for which each session of a model directory has memory. 0: as many as
  // the model was made for, and 4096 at most. A plan file says it itself.
  int64_t cache;
  int64_t source;  // of a directory whose encoder reads texts: the most tokens of one; 0: a usual number
} rung_language_options;
#define RUNG_LANGUAGE_OPTIONS_INIT \
  { sizeof(rung_language_options), NULL, 0, 0 }

// Opens a model directory, whose plans are built now without a climb, or a plan file (*.rung) that was built with
// `--cache`. A model with an encoder makes texts about a source (rung_text_session_read()). `options` may be NULL.
// Errors: those of rung_model_open(); RUNG_MISMATCH, plans that remember no text; RUNG_USAGE, a cache beyond the
// model's positions, or none where the model's files do not say how long a text may be.
RUNG_API rung_status rung_language_model_open(const char* path, const rung_language_options* options,
                                              rung_language_model** model);
// Closes a model. Waits for the calls that other threads are making with it. Its sessions stay open.
RUNG_API void rung_language_model_close(rung_language_model* model);
// Return the number of tokens that the model knows, and the most tokens of a text; 0: the model is closed.
RUNG_API int64_t rung_language_model_vocabulary(const rung_language_model* model);
RUNG_API int64_t rung_language_model_most_tokens(const rung_language_model* model);

// The beginning of a text: one of a text, a chat and tokens. Start from RUNG_PROMPT_INIT.
typedef struct rung_prompt {
  size_t size;
  const char* text;       // UTF-8 for the model's tokenizer, used unchanged; NULL: none
  size_t text_bytes;      // SIZE_MAX: up to its first NUL
  const char* chat;       // JSON: a list of messages, which the model's template makes the prompt of; NULL: none
  const int64_t* tokens;  // used unchanged
  size_t token_count;
} rung_prompt;
#define RUNG_PROMPT_INIT \
  { sizeof(rung_prompt), NULL, SIZE_MAX, NULL, NULL, 0 }

// A place of the caller's for tokens.
typedef struct rung_tokens {
  int64_t* data;  // may be NULL if room is 0
  size_t room;    // tokens at data
  size_t count;   // set by the call
} rung_tokens;

// Gives the tokens of a prompt, as rung_generation_open() reads them behind no text. Where `tokens` has too little
// room, only its `count` is set. Errors: RUNG_USAGE, no prompt or several; RUNG_MISMATCH, the model has no tokenizer or
// no chat template; RUNG_FAILED, the template refuses the chat.
RUNG_API rung_status rung_language_model_tokens(const rung_language_model* model, const rung_prompt* prompt,
                                                rung_tokens* tokens);
// Decodes token ids, as rung_model_decode() does.
RUNG_API rung_status rung_language_model_decode(const rung_language_model* model, const int64_t* ids, size_t count,
                                                const rung_decode_options* options, rung_text* text);

// A text with what the model remembers of it: caches and threads of its own over the model's weights. One thread at a
// time uses it: a second one is refused with RUNG_USAGE.
typedef struct rung_text_session rung_text_session;

// Opens a session with an empty text. Errors: RUNG_MEMORY, RUNG_DEVICE.
RUNG_API rung_status rung_text_session_open(const rung_language_model* model, rung_text_session** session);
// Opens a second session whose text begins as a copy of this one, caches included; neither changes the other. Errors:
// RUNG_MEMORY, RUNG_DEVICE.
RUNG_API rung_status rung_text_session_fork(rung_text_session* session, rung_text_session** fork);
// Closes a session. Waits for the call that another thread is making with it. Its forks and generations stay open.
RUNG_API void rung_text_session_close(rung_text_session* session);

// Reads a source with the model's encoder, by the names of its inputs (`input_features`; of a text its tokens,
// `input_ids`), in host memory, and begins an empty text about it. Texts that later calls begin are about it, too.
// Errors: RUNG_USAGE, the model has no encoder, more tokens than it reads, a name twice or one that it does not have;
// RUNG_MISMATCH, another type or shape: source and text stay as they were. After RUNG_DEVICE both are lost.
RUNG_API rung_status rung_text_session_read(rung_text_session* session, const rung_named_tensor* source, size_t count);
// Appends tokens to the text and gives the scores of the token behind them, one for each token that the model knows.
// Without tokens (count = 0) it gives those behind the text that there is. `logits` may be NULL; then `logit_count` is
// 0. Errors: RUNG_USAGE, a token that the model does not know, more tokens than there is room for, no text, another
// `logit_count` than the vocabulary: the text stays as it was. After RUNG_DEVICE and RUNG_MEMORY the text is lost.
RUNG_API rung_status rung_text_session_feed(rung_text_session* session, const int64_t* tokens, size_t count,
                                            float* logits, size_t logit_count);
// Forgets all tokens from place `length` on. Length 0 begins a new text. Errors: RUNG_USAGE, a length beyond the
// text's, or one from which a layer with a sliding window cannot go on: the text stays as it was.
RUNG_API rung_status rung_text_session_truncate(rung_text_session* session, int64_t length);
// Gives the text's tokens. Where `tokens` has too little room, only its `count` is set, the text's length.
RUNG_API rung_status rung_text_session_tokens(rung_text_session* session, rung_tokens* tokens);

// The use of draft tokens: another model's guesses, or the tokens behind an earlier place of the text that ended alike.
// One run reads them with the text, and those that are chosen anyway need no run of their own.
typedef enum rung_speculate {
  RUNG_SPECULATE_OFF = 0,    // also with a draft
  RUNG_SPECULATE_ON = 1,     // wherever there are drafts
  RUNG_SPECULATE_AUTO = 2,   // so, until the measured time per token shows that it is slower
  RUNG_SPECULATE_USUAL = 3,  // auto with a draft, else off
} rung_speculate;

// Options of a generation. Start from RUNG_GENERATE_OPTIONS_INIT. Of the settings of sampling, -1 means: as the model's
// own files say.
typedef struct rung_generate_options {
  size_t size;
  int64_t most;               // new tokens
  double temperature;         // scores are divided by it; 0: the likeliest token is taken
  double top_p;               // the likeliest tokens are kept that have this probability together
  double min_p;               // tokens are kept whose probability is this part of the likeliest one's
  double repetition_penalty;  // of tokens that the text has; 1: none
  int64_t top_k;              // this number of the likeliest tokens is kept; 0: all
  uint64_t seed;              // equal seeds make equal texts
  const char* const* stops;   // strings that end the text where they begin
  size_t stop_count;
  // Called between the runs that read the prompt. Returning false ends the call with RUNG_INTERRUPTED; the text then
  // ends with what was read. It must not throw. NULL: it goes on.
  bool (*goes_on)(void* context);
  void* context;
  rung_speculate speculate;  // a plan file needs a chunk that gives all scores: `rung build --scored-chunk`
  // A smaller model with the same tokens, whose guesses are the drafts; NULL: the text itself is looked at. It has a
  // session of its own, which this one keeps until it gets another draft.
  const rung_language_model* draft;
  int64_t draft_tokens;  // that it guesses at once; 0: 4, or as many as one run can read
  // The text says when its parts begin and end, as Whisper's texts do: rung_generation_json() then has `segments`. The
  // model's files must name the token of a text without times.
  bool timestamps;
} rung_generate_options;
#define RUNG_GENERATE_OPTIONS_INIT                                                                                 \
  {                                                                                                                \
    sizeof(rung_generate_options), 128, -1, -1, -1, -1, -1, 0, NULL, 0, NULL, NULL, RUNG_SPECULATE_USUAL, NULL, 0, \
        false                                                                                                      \
  }

// A text as it is made, token by token, in a session.
typedef struct rung_generation rung_generation;

// Reads a prompt behind the session's text, and begins a generation. A text prompt behind a text has no special tokens
// around it; `prompt` may be NULL behind a text, which then goes on. With an encoder a prompt of text is read as the
// source, and without tokens an empty text begins with those that the model's files name. `options` may be NULL.
// Errors: RUNG_USAGE, no prompt or several, a chat behind a text, a setting out of its range, a closed draft;
// RUNG_MISMATCH, a draft with other tokens or an encoder; those of rung_language_model_tokens(),
// rung_text_session_open() and rung_text_session_feed(); RUNG_INTERRUPTED.
RUNG_API rung_status rung_generation_open(rung_text_session* session, const rung_prompt* prompt,
                                          const rung_generate_options* options, rung_generation** generation);
// Closes a generation. The session keeps its text.
RUNG_API void rung_generation_close(rung_generation* generation);

// A token with the text that is certain with it: whole characters, without special tokens.
typedef struct rung_piece {
  int64_t token;      // -1: the text has ended, and this is no piece
  const char* text;   // UTF-8, which may hold NUL, with a NUL behind it; valid until the generation's next call
  size_t text_bytes;  // without the NUL behind it
} rung_piece;

// Makes the next token. The session's text has it at its end. Errors: RUNG_USAGE, another call changed the session's
// text; RUNG_DEVICE, RUNG_MEMORY.
RUNG_API rung_status rung_generation_next(rung_generation* generation, rung_piece* piece);
// Gives what was made so far as the JSON object that `rung generate --json` prints; free it with rung_free(). Its
// "stopped_by" is empty while the text could go on.
RUNG_API rung_status rung_generation_json(rung_generation* generation, char** json);

// ---- tokens of actions ----

// FAST's tokenizer of a robot's actions: a chunk of them, row by row, as a byte-pair encoding of rounded cosine
// coefficients. Any number of threads may use one.
typedef struct rung_action_tokenizer rung_action_tokenizer;

// The sizes of a chunk of actions.
typedef struct rung_action_shape {
  int64_t horizon;  // times
  int64_t dims;     // values at each time
} rung_action_shape;

// Tokens that a policy's language model wrote.
typedef struct rung_policy_tokens {
  const int64_t* tokens;
  size_t count;
  int64_t vocabulary;  // of the language model
  int64_t skipped;  // special tokens at the end of its vocabulary, behind those of actions: 128 in published policies
} rung_policy_tokens;

// Opens a directory with tokenizer.json and processor_config.json. `shape` gives sizes that the files do not say, and 0
// for those that they do; NULL: they say both. Errors: RUNG_FILE, RUNG_USAGE; RUNG_MISMATCH, a size that nobody says,
// or that both say differently.
RUNG_API rung_status rung_action_tokenizer_open(const char* directory, const rung_action_shape* shape,
                                                rung_action_tokenizer** tokenizer);
// Closes a tokenizer. Waits for the calls that other threads are making with it.
RUNG_API void rung_action_tokenizer_close(rung_action_tokenizer* tokenizer);
// Returns the sizes of a chunk; zeros: the tokenizer is closed.
RUNG_API rung_action_shape rung_action_tokenizer_shape(const rung_action_tokenizer* tokenizer);
// Gives the tokens of a chunk of `count` values, row by row. Where `tokens` has too little room, only its `count` is
// set. Errors: RUNG_USAGE, another number of values, or one that no token stands for.
RUNG_API rung_status rung_action_tokenizer_encode(const rung_action_tokenizer* tokenizer, const double* actions,
                                                  size_t count, rung_tokens* tokens);
// Gives the chunk of tokens, `action_count` values row by row. Errors: RUNG_MISMATCH, a token that the files do not
// have, tokens of more or fewer coefficients than a chunk has; RUNG_USAGE, another `action_count` than the chunk's.
RUNG_API rung_status rung_action_tokenizer_decode(const rung_action_tokenizer* tokenizer, const int64_t* tokens,
                                                  size_t count, double* actions, size_t action_count);
// Gives the chunk that a policy's language model wrote, among words before it and marks behind it. Errors: those of
// rung_action_tokenizer_decode(); RUNG_MISMATCH, no action tokens, or some that stand apart.
RUNG_API rung_status rung_action_tokenizer_decode_policy(const rung_action_tokenizer* tokenizer,
                                                         const rung_policy_tokens* written, double* actions,
                                                         size_t action_count);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*)
