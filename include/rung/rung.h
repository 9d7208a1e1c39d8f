// The C interface of rung: open a model or a plan, bind memory to its inputs and outputs, run it on the host or in a
// stream of yours, climb. Everything that the shared library shows is here and, for texts by language models, in
// language_model.h; rung.hpp puts C++ classes over both.
// SPDX-License-Identifier: Apache-2.0
//
// Errors. A function that can fail returns a rung_status; rung_error() then says in one line what was got and what was
// wanted. A failed call fills and changes nothing, but for output memory after a failed run. No exception, signal or
// exit leaves the library.
//
// Handles. Whoever gets one frees it by the function named for it; all of those accept NULL. A session, a generation, a
// plan's tensors and texts stay valid when what they came from is closed. A call with a freed handle is RUNG_USAGE,
// or counts nothing; freeing it again does nothing.
//
// Threads. A model may be used by any number of threads at once. A session is used by one thread at a time, whichever
// it is: a second one is refused with RUNG_USAGE. Sessions of one model may run at once, each on a thread of its own.
// After a fork the child may use nothing that was opened before it (RUNG_USAGE): open models there.
//
// Versions. A struct with the member `size` may grow at its end; its initialiser sets `size` to what the caller was
// compiled with. Nothing else here changes without a new RUNG_INTERFACE_VERSION.
#pragma once
// NOLINTBEGIN(modernize-*): C
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Marks the functions that the shared library exports.
#define RUNG_API __attribute__((visibility("default")))
// The version of this header.
#define RUNG_INTERFACE_VERSION 1

// The RUNG_INTERFACE_VERSION that the library was built with, and the release: "0.1.0".
RUNG_API uint32_t rung_interface_version(void);
RUNG_API const char* rung_version(void);

// ---- errors ----

// Success, or the kind of an error.
typedef enum rung_status {
  RUNG_OK = 0,
  RUNG_FAILED = 1,       // the work failed, for none of the reasons below
  RUNG_USAGE = 2,        // an invalid call: an unknown word, a closed handle, two threads in one session
  RUNG_FILE = 3,         // missing, unreadable, damaged, not supported, or not writable
  RUNG_DEVICE = 4,       // there is no such device, or it failed while working and does no more for this process
  RUNG_MEMORY = 5,       // not enough memory, on the host or on the device
  RUNG_MISMATCH = 6,     // a name, dtype, shape, layout, device or value other than the model's or the plan's
  RUNG_INTERRUPTED = 7,  // a callback asked to stop
} rung_status;

// The message of the calling thread's last failed call; "" before the first. Valid until that thread's next call.
RUNG_API const char* rung_error(void);
// Returns "ok", "failed", "usage", "file", "device", "memory", "mismatch" or "interrupted".
RUNG_API const char* rung_status_name(rung_status status);

// ---- tensors ----

// The kind of device that memory belongs to. The numbers are those of DLPack's DLDeviceType.
typedef enum rung_device_type {
  RUNG_CPU = 1,
  RUNG_CUDA = 2,
  RUNG_CUDA_HOST = 3,  // pinned: the host reads and writes it
  RUNG_ROCM = 10,
  RUNG_ROCM_HOST = 11,
} rung_device_type;

// A device of this machine.
typedef struct rung_device {
  int32_t type;  // a rung_device_type
  int32_t index;
} rung_device;

// The kind of a dtype's values. Numbers are those of DLPack's DLDataTypeCode.
typedef enum rung_dtype_code {
  RUNG_INT = 0,
  RUNG_UINT = 1,
  RUNG_FLOAT = 2,
  RUNG_BFLOAT = 4,
  RUNG_BOOL = 6,
  RUNG_FLOAT8_E4M3FN = 10,
  RUNG_FLOAT8_E4M3FNUZ = 11,
} rung_dtype_code;

// The type of one value. The layout is that of DLPack's DLDataType.
typedef struct rung_dtype {
  uint8_t code;  // a rung_dtype_code
  uint8_t bits;
  uint16_t lanes;  // 1
} rung_dtype;

// A tensor in memory of the caller's or of a session's. The layout is that of DLPack's DLTensor: a pointer to one may
// be cast to a pointer to the other.
typedef struct rung_tensor {
  void* data;
  rung_device device;
  int32_t ndim;
  rung_dtype dtype;
  int64_t* shape;    // `ndim` extents, in elements
  int64_t* strides;  // in elements; NULL: row-major without gaps
  uint64_t byte_offset;
} rung_tensor;

// Named tensors in host memory, which this object owns.
typedef struct rung_tensors rung_tensors;
RUNG_API size_t rung_tensors_count(const rung_tensors* tensors);
RUNG_API const char* rung_tensors_name(const rung_tensors* tensors, size_t index);
RUNG_API rung_tensor rung_tensors_get(const rung_tensors* tensors, size_t index);
// Return, for inputs made from a text, the number of its tokens, special ones included, and how many of them the
// tensors hold: fewer if the text was cut. Both are 0 for other tensors.
RUNG_API int64_t rung_tensors_text_tokens(const rung_tensors* tensors);
RUNG_API int64_t rung_tensors_text_kept(const rung_tensors* tensors);
RUNG_API void rung_tensors_free(rung_tensors* tensors);

// A tensor of the caller's, in host memory, with an input's name.
typedef struct rung_named_tensor {
  const char* name;
  const rung_tensor* tensor;
} rung_named_tensor;

// ---- models ----

// The shape of an input of a model directory, in elements.
typedef struct rung_named_shape {
  const char* name;
  const int64_t* shape;
  int32_t ndim;
} rung_named_shape;

// Options for opening a path. Start from RUNG_OPTIONS_INIT; a field left unset is as the plan was built, or as
// documented here.
typedef struct rung_options {
  size_t size;
  // "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the second), "hip" or "hip:1" (AMD's). NULL: the first device of
  // the kind that a plan was built for, the processor for a model directory. A plan runs only on the kind of device
  // that it was built for.
  const char* device;
  // Threads of the processor, at most 1024; 0: as many as a plan was built for, or as there are cores. None on a GPU.
  int32_t threads;
  // The type that a model directory computes in: "model" (each dtype as it is stored, the default), "f32", "bf16".
  const char* dtype;
  // Shapes of a model directory's inputs. For a plan file they select one of its plans.
  const rung_named_shape* shapes;
  size_t shape_count;
  // Runs the encoder alone of a model directory that has a head (a classifier, a masked language model). false: with
  // its head, or refused if that is not supported.
  bool drop_head;
  uint8_t reserved[7];  // zeros: in older versions the struct ends here
  // Runs the machine code of generated kernels that a plan's file holds. You say that you trust whoever made the file,
  // because nothing can check machine code. false: such kernels run as this machine compiled them before or compiles
  // them now; without a compiler the plan is refused (RUNG_DEVICE).
  bool trust_code;
} rung_options;
#define RUNG_OPTIONS_INIT \
  { sizeof(rung_options), NULL, 0, NULL, NULL, 0, false, {0}, false }

// A plan and its weights, shared by all its sessions.
typedef struct rung_model rung_model;

// Opens a plan (*.rung), which loads as it was built, or a model directory, whose plan is built now without a climb.
// `options` may be NULL. Errors: RUNG_FILE, RUNG_DEVICE, RUNG_MEMORY; RUNG_USAGE for a word that names no device or
// dtype; RUNG_MISMATCH for another device, number of threads or shape than the plan's.
RUNG_API rung_status rung_model_open(const char* path, const rung_options* options, rung_model** model);
// Closes a model. Waits for the calls that other threads are making with it.
RUNG_API void rung_model_close(rung_model* model);
// Writes the model's plans to a file (*.rung), whole or not at all. Errors: RUNG_FILE.
RUNG_API rung_status rung_model_save(const rung_model* model, const char* path);

// Returns the number of plans, one for each set of input shapes: a file climbed for several shapes has several. All
// have the same inputs and outputs, by index and name. The functions below describe the first plan's.
RUNG_API size_t rung_model_plan_count(const rung_model* model);
// Gives a model of that plan alone, over the same weights; the caller closes it, too. Errors: RUNG_USAGE, an index
// beyond the last; RUNG_MEMORY.
RUNG_API rung_status rung_model_plan(const rung_model* model, size_t index, rung_model** plan);
// A model that holds the plans of all of these, in order, over weights that stand once: climbs of one model directory
// for several shapes become one file. They stay open. Errors: RUNG_USAGE, none, or one that is not open; RUNG_MISMATCH,
// they are of different models or devices, differ in the names of their inputs or outputs, or two have plans for the
// same shapes; RUNG_MEMORY.
RUNG_API rung_status rung_model_join(const rung_model* const* models, size_t count, rung_model** joined);

// An input or an output. Its name and shape live as long as the model or any session of the model.
typedef struct rung_port {
  const char* name;
  rung_dtype dtype;
  int32_t ndim;
  const int64_t* shape;
  size_t bytes;
  bool required;  // an input without a default
} rung_port;

// Return the number of inputs and of outputs. The indices are in the plan's order.
RUNG_API size_t rung_model_input_count(const rung_model* model);
RUNG_API size_t rung_model_output_count(const rung_model* model);
// Describe an input and an output. Errors: RUNG_USAGE, an index beyond the last.
RUNG_API rung_status rung_model_input(const rung_model* model, size_t index, rung_port* port);
RUNG_API rung_status rung_model_output(const rung_model* model, size_t index, rung_port* port);
// Find the index for a name. Errors: RUNG_MISMATCH, whose message lists the names that there are.
RUNG_API rung_status rung_model_find_input(const rung_model* model, const char* name, size_t* index);
RUNG_API rung_status rung_model_find_output(const rung_model* model, const char* name, size_t* index);
// Returns the device that the model runs on.
RUNG_API rung_device rung_model_device(const rung_model* model);

// The treatment of a text that has more tokens than the plan's inputs have room for.
typedef enum rung_truncate {
  RUNG_TRUNCATE_CUT = 0,    // the text is cut, as rung_tensors_text_kept() tells
  RUNG_TRUNCATE_ERROR = 1,  // RUNG_MISMATCH
} rung_truncate;

// Options for tokenizing a text. Start from RUNG_TEXT_OPTIONS_INIT.
typedef struct rung_text_options {
  size_t size;
  size_t bytes;  // of the text, UTF-8 that may hold NUL; SIZE_MAX: up to its first NUL
  rung_truncate truncate;
  // A second text, which the model reads with the first one, such as the passage for a question; NULL: there is none.
  const char* second;
  size_t second_bytes;  // of the second text, as `bytes`
} rung_text_options;
#define RUNG_TEXT_OPTIONS_INIT \
  { sizeof(rung_text_options), SIZE_MAX, RUNG_TRUNCATE_CUT, NULL, SIZE_MAX }

// Tokenizes a text with the model's own tokenizer: inputs of shape {1, length} each. The tokenizer's files are read at
// the first text. `options` may be NULL; rung_model_encode() takes the defaults. Errors: RUNG_MISMATCH: the model has
// no tokenizer, or none for two texts; an input has another shape or is frozen at another value than the text's; the
// text is too long and must not be cut, or too short and the tokenizer has no token to fill it up.
RUNG_API rung_status rung_model_encode(const rung_model* model, const char* text, rung_tensors** inputs);
RUNG_API rung_status rung_model_encode_text(const rung_model* model, const char* text, const rung_text_options* options,
                                            rung_tensors** inputs);

// The treatment of blanks before English marks and endings in a decoded text, such as those of "it 's , ok".
typedef enum rung_clean_up {
  RUNG_CLEAN_UP_AS_SAVED = 0,  // as tokenizer_config.json says: by default they stay
  RUNG_CLEAN_UP_OFF = 1,       // they stay
  RUNG_CLEAN_UP_ON = 2,        // they go; not from texts of a BPE tokenizer, as in the published library
} rung_clean_up;

// Options for decoding token ids. Start from RUNG_DECODE_OPTIONS_INIT.
typedef struct rung_decode_options {
  size_t size;
  bool keep_special;  // special tokens, such as [SEP], stand in the text
  rung_clean_up clean_up;
} rung_decode_options;
#define RUNG_DECODE_OPTIONS_INIT \
  { sizeof(rung_decode_options), false, RUNG_CLEAN_UP_AS_SAVED }

// A place of the caller's for a text.
typedef struct rung_text {
  char* data;    // may be NULL if room is 0
  size_t room;   // bytes at data
  size_t bytes;  // set by the call: the text's length, without the NUL behind it
} rung_text;

// Decodes token ids with the model's own tokenizer, as its tokenizer.json says: to UTF-8, which may hold NUL, with a
// NUL behind it. Where `text` has too little room for both, only its `bytes` are set. `options` may be NULL. Errors:
// RUNG_MISMATCH: the model has no tokenizer, or an id is of no token; RUNG_FILE: the tokenizer's files describe a
// decoder that is not supported.
RUNG_API rung_status rung_model_decode(const rung_model* model, const int64_t* ids, size_t count,
                                       const rung_decode_options* options, rung_text* text);

// Returns whether the plan took the input of that name as a constant, so that it is no input of the plan any more.
RUNG_API bool rung_model_is_frozen(const rung_model* model, const char* name);
// Returns RUNG_OK if `tensor`, in host memory, is that constant. Errors: RUNG_MISMATCH, another value or no constant.
RUNG_API rung_status rung_model_check_frozen(const rung_model* model, const char* name, const rung_tensor* tensor);

// ---- sessions ----

// A session, which one thread runs: a model's launches with memory of their own. Every input and output is bound to
// some memory: an input at first to its default, if it has one.
typedef struct rung_session rung_session;

// Opens a session; a model may have several at once. Errors: RUNG_DEVICE, RUNG_MEMORY.
RUNG_API rung_status rung_session_open(const rung_model* model, rung_session** session);
// Closes a session. Waits for its runs in flight, and for a call that another thread is making with it.
RUNG_API void rung_session_close(rung_session* session);

// Selects, among the model's plans, the one that serves these input shapes: the session runs it from now on, and the
// functions below bind its inputs and outputs. Until then the first plan is selected. Inputs that are not named may
// have any shape. Errors: RUNG_MISMATCH, no plan serves them, or several do; both name what the model serves.
RUNG_API rung_status rung_session_select(rung_session* session, const rung_named_shape* shapes, size_t count);
// Returns the index of the plan that the session runs.
RUNG_API size_t rung_session_selected(const rung_session* session);

// Binds an input or an output to memory of the session's own and tells its place, which is the same at every call,
// valid until the session is closed, 64-byte aligned (256 on a GPU), row-major. RUNG_CPU asks for memory that the host
// writes and reads, pinned where the device is a GPU: an input's starts as its default, or zeros, and every run reads
// what is written there; an output's holds the last run's result. RUNG_CUDA (RUNG_ROCM for AMD) asks for device memory,
// which runs read and write in place without a copy: an input's holds what the last run read, or its default, or zeros.
// Errors: RUNG_USAGE, RUNG_MEMORY; RUNG_MISMATCH for a device that the session does not run on.
RUNG_API rung_status rung_session_input(rung_session* session, size_t index, rung_device_type where,
                                        rung_tensor* tensor);
RUNG_API rung_status rung_session_output(rung_session* session, size_t index, rung_device_type where,
                                         rung_tensor* tensor);

// Binds memory of the caller's, on the host or on the session's device: every run copies from it, or to it, until other
// memory is bound. The caller keeps it until then, unchanged while a run is in flight. Host memory is copied through
// the session's own. The device itself copies memory declared as RUNG_CUDA_HOST (for AMD, RUNG_ROCM_HOST): that saves
// the host's copy if the memory is pinned, and even a run whose input values are refused writes such an output. NULL
// restores an input's default, and leaves an output uncopied. Errors: RUNG_MISMATCH for another dtype, shape or device
// than the port's, and for strides with gaps or in another order (the library repacks nothing).
RUNG_API rung_status rung_session_bind_input(rung_session* session, size_t index, const rung_tensor* tensor);
RUNG_API rung_status rung_session_bind_output(rung_session* session, size_t index, const rung_tensor* tensor);

// Runs one inference, complete on return: copies bound host memory to the device, runs, copies back, with one wait at
// the end. Input values in host memory are checked while the device runs: the error names the input and what is wrong
// with it (an integer out of range, NaN, an infinity but for -inf in a mask). Errors: RUNG_MISMATCH; an index out of
// range or an integer divided by zero, naming the op; RUNG_DEVICE.
RUNG_API rung_status rung_session_run(rung_session* session);
// Enqueues one inference in a stream of the caller's (a CUstream, cudaStream_t or hipStream_t; NULL: the legacy default
// stream), and returns. A session's runs keep their order, in whichever streams. Host memory of the caller's that is
// bound to an input is read before this returns, and that of an output is filled by rung_session_wait(); but pinned
// memory (RUNG_CUDA_HOST, RUNG_ROCM_HOST) and the session's own is read and filled when the stream comes to it: leave
// it unchanged until then. Where no other host memory is bound, waiting for the stream is enough. Errors: RUNG_USAGE on
// the processor.
RUNG_API rung_status rung_session_run_async(rung_session* session, void* stream);
// Waits until everything enqueued is done. Errors: those of the runs since the last wait.
RUNG_API rung_status rung_session_wait(rung_session* session);

// ---- climbs ----

// The record of one rung of a climb.
typedef struct rung_receipt {
  const char* name;
  const char* reason;  // one line: why it was kept or not
  bool accepted;
  double before_ms, ms;           // of one inference, without and with it; NaN on an emulator, which has no time
  double ratio, ci_low, ci_high;  // before / after from interleaved runs, and its 95 % confidence interval
  double rel_l2, max_abs;         // against the reference
  int32_t kernels;                // launches with the rung
  int32_t attempt;                // 2: tried again at the end
} rung_receipt;

// The progress of a climb. Valid during the callback.
typedef struct rung_progress {
  const char* what;             // "tuning linear m=128 ..."
  double fraction;              // 0 to 1, of the budget and the steps
  const rung_receipt* receipt;  // of a rung that was just decided; NULL: none was
} rung_progress;

// One more set of values for the inputs of a climb, in host memory: the names and shapes of its first set.
typedef struct rung_input_set {
  const rung_named_tensor* inputs;
  size_t count;
} rung_input_set;

// Options of a climb. Start from RUNG_CLIMB_OPTIONS_INIT.
typedef struct rung_climb_options {
  size_t size;
  const rung_options* model;        // NULL: RUNG_OPTIONS_INIT. dtype "bf16" climbs the opt-in rung "precision" too
  double budget_s;                  // all the time that the climb may take, at least 1
  const rung_named_tensor* inputs;  // to verify and time with, in host memory; inputs left out get samples
  size_t input_count;
  const char* const* freeze;  // names among `inputs` that the plan takes as constants
  size_t freeze_count;
  const char* const* skip;  // rungs not to climb
  size_t skip_count;
  const char* database;  // file of tuning results; NULL: the user's own; "": none
  // The climbing thread calls it several times a second. Returning false ends the climb at its next step with
  // RUNG_INTERRUPTED, and keeps what was tuned. It must not throw. NULL: no callback.
  bool (*progress)(void* context, const rung_progress* progress);
  void* context;
  const rung_input_set* further_inputs;  // scales are found and answers judged on all sets; the first is timed
  size_t further_count;
  // The error that the answers may have against f32, for the worst of all sets; NULL: not stated. Where one is stated,
  // the climb chooses the precision of each part by measurement, and keeps the fastest plan within all of them.
  const double* error;   // the most relative L2 error, above 0 and below 1
  const double* cosine;  // the least cosine, above 0 and below 1
  const double* kl;      // the most Kullback-Leibler divergence of the output "logits", in nats, a mean over rows
} rung_climb_options;
#define RUNG_CLIMB_OPTIONS_INIT \
  { sizeof(rung_climb_options), NULL, 60.0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL }

// The result of a climb: its plan, receipts and reports.
typedef struct rung_climb rung_climb;

// Climbs a model directory. On a GPU, the tool `rung` measures candidates, in a process of its own: it is looked for
// where the environment variable RUNG_PROGRAM says, else beside the library and in bin/ beside that. Errors: those of
// rung_model_open(); RUNG_FAILED, the baseline is wrong; RUNG_INTERRUPTED.
RUNG_API rung_status rung_climb_model(const char* path, const rung_climb_options* options, rung_climb** climb);
RUNG_API void rung_climb_free(rung_climb* climb);
RUNG_API size_t rung_climb_receipt_count(const rung_climb* climb);
// Gives the receipt of one rung. Errors: RUNG_USAGE, an index beyond the last.
RUNG_API rung_status rung_climb_receipt(const rung_climb* climb, size_t index, rung_receipt* receipt);

// The plan that a climb compares the winner with.
typedef enum rung_against {
  RUNG_AGAINST_BASELINE = 0,  // the model as its author wrote it
  RUNG_AGAINST_NO_CLIMB = 1,  // the default plan, which rung_model_open() of a directory gives
} rung_against;
// The result of a race of the winner with that plan: how much faster the winner is.
typedef struct rung_speedup {
  double claimed;                 // the ratio if its interval excludes 1, else 1; NaN: nothing is claimed
  double before_ms, after_ms;     // of one inference; NaN on an emulator, which has no time
  double ratio, ci_low, ci_high;  // before / after from interleaved runs, and its 95 % confidence interval
  int32_t pairs;                  // pairs of runs in the race; 0: there was no race
  const char* unraced;            // why there was no race; empty: there was one
} rung_speedup;
// Gives the result of one comparison. Errors: RUNG_USAGE, no such comparison.
RUNG_API rung_status rung_climb_speedup(const rung_climb* climb, rung_against against, rung_speedup* speedup);

// The kinds of text that a climb gives.
typedef enum rung_climb_text_kind {
  RUNG_CLIMB_REPORT = 0,  // JSON, as `rung climb --json` prints it
  RUNG_CLIMB_RECIPE = 1,  // JSON, of which `rung build --recipe` makes the same plan
  RUNG_CLIMB_HTML = 2,
  RUNG_CLIMB_MARKDOWN = 3,
  RUNG_CLIMB_TRACE = 4,  // JSON of one inference, for Perfetto
} rung_climb_text_kind;
// Returns a text that lives as long as the climb, or NULL if there is no such kind.
RUNG_API const char* rung_climb_text(const rung_climb* climb, rung_climb_text_kind kind);
// Opens the plan that won, ready to run.
RUNG_API rung_status rung_climb_open(const rung_climb* climb, rung_model** model);
// Writes plan.rung, recipe.json, report.html, report.json, report.md and trace.json, all or none; it makes the folder.
RUNG_API rung_status rung_climb_save(const rung_climb* climb, const char* directory);

// ---- plans without a climb ----

// Options of a build. Start from RUNG_BUILD_OPTIONS_INIT.
typedef struct rung_build_options {
  size_t size;
  const rung_options* model;        // NULL: RUNG_OPTIONS_INIT
  const char* recipe;               // JSON text; NULL: the default one, which rung_model_open() takes
  const rung_named_tensor* inputs;  // host memory: their shapes are the plan's
  size_t input_count;
  const char* const* freeze;  // names among `inputs` that the plan takes as constants
  size_t freeze_count;
  // true: choices of the recipe that decide nothing in this plan (it has other shapes) are left out, and kernels
  // without a choice are measured. false: such a recipe is refused.
  bool retune;
  double budget_s;       // all the time that measuring may take
  const char* database;  // file of tuning results; NULL: the user's own; "": none
} rung_build_options;
#define RUNG_BUILD_OPTIONS_INIT \
  { sizeof(rung_build_options), NULL, NULL, NULL, 0, NULL, 0, false, 10.0, NULL }

// Builds the plan of a recipe from a model directory, as `rung build` does, and opens it. `options` may be NULL.
// Errors: those of rung_model_open(); RUNG_USAGE, a recipe that cannot be read; RUNG_MISMATCH, a choice in the recipe
// that decides nothing.
RUNG_API rung_status rung_model_build(const char* path, const rung_build_options* options, rung_model** model);

// ---- what the command line also does ----

// Options of a task, which gives the JSON object that the command of its name prints under --json
// (docs/json.schema.json); free it with rung_free(). `options` may be NULL.
typedef struct rung_task_options {
  size_t size;
  const rung_options* model;        // NULL: RUNG_OPTIONS_INIT
  const rung_named_tensor* inputs;  // host memory; inputs left out get samples
  size_t input_count;
  const char* recipe;                  // of a model directory: JSON text; NULL: the default one
  int32_t runs;                        // of bench; 0: 200
  double rate_hz;                      // of bench; 0: back to back
  const rung_named_tensor* reference;  // of verify: outputs to compare with; none: rung's own reference, which wants a
  size_t reference_count;              // model directory
  // The working thread calls it between runs, several times a second. Returning false ends verify, bench and profile
  // with RUNG_INTERRUPTED. It must not throw. NULL: they go on.
  bool (*goes_on)(void* context);
  void* context;
} rung_task_options;
#define RUNG_TASK_OPTIONS_INIT \
  { sizeof(rung_task_options), NULL, NULL, 0, NULL, 0, 0, NULL, 0, NULL, NULL }

// Run the task of that name. A verification that fails is RUNG_OK with "passed": false.
RUNG_API rung_status rung_verify(const char* path, const rung_task_options* options, char** json);
RUNG_API rung_status rung_bench(const char* path, const rung_task_options* options, char** json);
RUNG_API rung_status rung_profile(const char* path, const rung_task_options* options, char** json);
RUNG_API rung_status rung_explain(const char* path, const rung_task_options* options, char** json);

// Options of a comparison of two models. Start from RUNG_COMPARE_OPTIONS_INIT.
typedef struct rung_compare_options {
  size_t size;
  const rung_options* model;  // of both; where one is a plan, of the model directory alone; NULL: RUNG_OPTIONS_INIT
  const rung_named_tensor* inputs;  // host memory; inputs left out get samples
  size_t input_count;
  const char *recipe_a, *recipe_b;  // of model directories: JSON text; NULL: the default one
  const char *tool_a, *tool_b;      // programs `rung` of other builds, which then run the side; NULL: this one
  double max_slowdown;              // how much longer than A one inference of B may take: 0.03 is 3 %
  double budget_s;                  // of the race, at least 1
} rung_compare_options;
#define RUNG_COMPARE_OPTIONS_INIT \
  { sizeof(rung_compare_options), NULL, NULL, 0, NULL, NULL, NULL, NULL, 0.03, 20.0 }

// Runs two plans or model directories in turns, as `rung compare` does, and gives its JSON object, whose "verdict" says
// which is faster; free it with rung_free(). If `b` is NULL, `a` runs by another recipe or tool. `options` may be NULL.
// A slower B is RUNG_OK. Errors: those of rung_model_open(); RUNG_MISMATCH, other inputs or devices.
RUNG_API rung_status rung_compare(const char* a, const char* b, const rung_compare_options* options, char** json);

// Frees a text that one of these gave. NULL is allowed.
RUNG_API void rung_free(char* text);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*)
