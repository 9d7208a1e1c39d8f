// The C interface of rung: open a model or a plan, bind memory to its inputs and outputs, run it on the host or in a
// stream of yours, climb. Everything that the shared library shows is here; rung.hpp puts C++ classes over it.
// SPDX-License-Identifier: Apache-2.0
//
// Errors. A function that can fail returns a rung_status; rung_error() then says in one line what was got and what was
// wanted. What a failed call was to fill or to change stays as it was, but for output memory after a failed run. No
// exception, signal or exit leaves the library.
//
// Handles. Whoever gets one frees it by the function named for it; all of those take NULL. A session, a plan's tensors
// and texts stay valid when the model that they came from is closed. A call with a handle that was freed is RUNG_USAGE,
// or counts nothing; to free it again does nothing.
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
  RUNG_USAGE = 2,        // a call that cannot be meant: an unknown word, a closed handle, two threads in one session
  RUNG_FILE = 3,         // missing, unreadable, damaged, not supported, or not writable
  RUNG_DEVICE = 4,       // there is no such device, or it failed under its work: then it does none for this process
  RUNG_MEMORY = 5,       // not enough of it, on the host or on the device
  RUNG_MISMATCH = 6,     // a name, dtype, shape, layout, device or value other than the model's or the plan's
  RUNG_INTERRUPTED = 7,  // a callback asked for the end
} rung_status;

// The message of the calling thread's last failed call; "" before the first. Valid until that thread's next call.
RUNG_API const char* rung_error(void);
// "ok", "failed", "usage", "file", "device", "memory", "mismatch", "interrupted".
RUNG_API const char* rung_status_name(rung_status status);

// ---- tensors ----

// Where memory lies. Numbers are those of DLPack's DLDeviceType.
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

// Memory of the caller's or of a session's. The layout is that of DLPack's DLTensor: a pointer to one may be cast to a
// pointer to the other.
typedef struct rung_tensor {
  void* data;
  rung_device device;
  int32_t ndim;
  rung_dtype dtype;
  int64_t* shape;    // `ndim` extents, in elements
  int64_t* strides;  // in elements; NULL: row-major without gaps
  uint64_t byte_offset;
} rung_tensor;

// Named tensors in host memory that belong to this object.
typedef struct rung_tensors rung_tensors;
RUNG_API size_t rung_tensors_count(const rung_tensors* tensors);
RUNG_API const char* rung_tensors_name(const rung_tensors* tensors, size_t index);
RUNG_API rung_tensor rung_tensors_get(const rung_tensors* tensors, size_t index);
// For inputs that a text made: the text's tokens with the special ones, and how many of them the tensors hold. Fewer:
// the text was cut. 0 for other tensors.
RUNG_API int64_t rung_tensors_text_tokens(const rung_tensors* tensors);
RUNG_API int64_t rung_tensors_text_kept(const rung_tensors* tensors);
RUNG_API void rung_tensors_free(rung_tensors* tensors);

// A tensor of the caller's with an input's name. Host memory.
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

// Options for opening a path. Start from RUNG_OPTIONS_INIT; a field that is left out is as a plan was built, or as said
// here.
typedef struct rung_options {
  size_t size;
  // "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the second), "hip" or "hip:1" (AMD's). NULL: what a plan was built
  // for (the first device of that kind), the processor for a model directory. A plan runs on the kind of device that it
  // was built for alone.
  const char* device;
  // Threads of the processor, at most 1024; 0: as many as a plan was built for, or as there are cores. None on a GPU.
  int32_t threads;
  // The type that a model directory computes in: "model" (each dtype as it is stored, the default), "f32", "bf16".
  const char* dtype;
  // Shapes of a model directory's inputs. For a plan file they select one of its plans.
  const rung_named_shape* shapes;
  size_t shape_count;
  // Runs the encoder alone of a model directory whose head (a classifier, a masked language model) is not supported.
  // false: such a model is refused.
  bool drop_head;
} rung_options;
#define RUNG_OPTIONS_INIT \
  { sizeof(rung_options), NULL, 0, NULL, NULL, 0, false }

// A plan and its weights, shared by all its sessions.
typedef struct rung_model rung_model;

// A plan (*.rung), which loads as it was built, or a model directory, whose plan is built here without a climb.
// `options` may be NULL. Errors: RUNG_FILE, RUNG_DEVICE, RUNG_MEMORY; RUNG_USAGE for a word that names no device or
// dtype; RUNG_MISMATCH for another device, number of threads or shape than the plan's.
RUNG_API rung_status rung_model_open(const char* path, const rung_options* options, rung_model** model);
// Waits for the calls of other threads that are in it.
RUNG_API void rung_model_close(rung_model* model);
// Its plans as a file (*.rung), written whole or not at all. Errors: RUNG_FILE.
RUNG_API rung_status rung_model_save(const rung_model* model, const char* path);

// A model holds a plan for each set of input shapes that it serves: a file that was climbed for several shapes has
// several. All have the same inputs and outputs, by index and name. The functions below describe the first plan's.
RUNG_API size_t rung_model_plan_count(const rung_model* model);
// A model of that plan alone, over the same weights; it is closed by itself. Errors: RUNG_USAGE, an index beyond the
// last; RUNG_MEMORY.
RUNG_API rung_status rung_model_plan(const rung_model* model, size_t index, rung_model** plan);
// A model that holds the plans of all of these, in order, over weights that stand once: climbs of one model directory
// for several shapes become one file. They stay open. Errors: RUNG_USAGE, none, or one that is not open; RUNG_MISMATCH,
// they are of different models or devices, differ in the names of their inputs or outputs, or two have plans for the
// same shapes; RUNG_MEMORY.
RUNG_API rung_status rung_model_join(const rung_model* const* models, size_t count, rung_model** joined);

// An input or an output. Its name and shape live as long as the model or a session of it.
typedef struct rung_port {
  const char* name;
  rung_dtype dtype;
  int32_t ndim;
  const int64_t* shape;
  size_t bytes;
  bool required;  // an input without a default
} rung_port;

// How many there are, in the plan's order.
RUNG_API size_t rung_model_input_count(const rung_model* model);
RUNG_API size_t rung_model_output_count(const rung_model* model);
// Errors: RUNG_USAGE, an index beyond the last.
RUNG_API rung_status rung_model_input(const rung_model* model, size_t index, rung_port* port);
RUNG_API rung_status rung_model_output(const rung_model* model, size_t index, rung_port* port);
// The index of that name. Errors: RUNG_MISMATCH, which lists the names that there are.
RUNG_API rung_status rung_model_find_input(const rung_model* model, const char* name, size_t* index);
RUNG_API rung_status rung_model_find_output(const rung_model* model, const char* name, size_t* index);
// Where it runs.
RUNG_API rung_device rung_model_device(const rung_model* model);

// The treatment of a text of more tokens than the plan's inputs have room for.
typedef enum rung_truncate {
  RUNG_TRUNCATE_CUT = 0,    // it is cut: rung_tensors_text_kept() says so
  RUNG_TRUNCATE_ERROR = 1,  // RUNG_MISMATCH
} rung_truncate;

// How to take a text. Start from RUNG_TEXT_OPTIONS_INIT.
typedef struct rung_text_options {
  size_t size;
  size_t bytes;  // of the text, UTF-8 that may hold NUL; SIZE_MAX: up to its first NUL
  rung_truncate truncate;
} rung_text_options;
#define RUNG_TEXT_OPTIONS_INIT \
  { sizeof(rung_text_options), SIZE_MAX, RUNG_TRUNCATE_CUT }

// Tokenizes a text with the model's own tokenizer: inputs of shape {1, length} each. The tokenizer's files are read at
// the first text. `options` may be NULL, and are for rung_model_encode(). Errors: RUNG_MISMATCH, the model has no
// tokenizer, an input of another shape, one that is frozen at another value than the text's, or a text that is too long
// and not to be cut.
RUNG_API rung_status rung_model_encode(const rung_model* model, const char* text, rung_tensors** inputs);
RUNG_API rung_status rung_model_encode_text(const rung_model* model, const char* text, const rung_text_options* options,
                                            rung_tensors** inputs);

// Did the plan take the input of that name as a constant, so that it is none of its inputs any more?
RUNG_API bool rung_model_is_frozen(const rung_model* model, const char* name);
// RUNG_OK if `tensor`, in host memory, is that constant. Errors: RUNG_MISMATCH, another value, or no such constant.
RUNG_API rung_status rung_model_check_frozen(const rung_model* model, const char* name, const rung_tensor* tensor);

// ---- sessions ----

// A session, which one thread runs: a model's launches with memory of their own. Every input and output is bound to
// some memory: an input at first to its default, if it has one.
typedef struct rung_session rung_session;

// Several may be open, of one model too. Errors: RUNG_DEVICE, RUNG_MEMORY.
RUNG_API rung_status rung_session_open(const rung_model* model, rung_session** session);
// Waits for what it has in flight, also for a call of another thread that is in it.
RUNG_API void rung_session_close(rung_session* session);

// Selects the plan of a model with several that serves these shapes of inputs: the session runs it from now on, and the
// functions below bind its inputs and outputs. Until then it is the first. Inputs that are not named may have any
// shape. Errors: RUNG_MISMATCH, no plan serves them, or several do; both name what the model serves.
RUNG_API rung_status rung_session_select(rung_session* session, const rung_named_shape* shapes, size_t count);
// The index of the plan that the session runs.
RUNG_API size_t rung_session_selected(const rung_session* session);

// Binds an input or an output to memory of the session's own, and tells where it lies: the same at every call, valid
// until the session is closed, 64-byte aligned (256 on a GPU), row-major. RUNG_CPU asks for memory that the host writes
// and reads, pinned where the device is a GPU: an input's starts as its default, or zeros, and every run reads what is
// written there; an output's holds the last run's result. RUNG_CUDA, on AMD's RUNG_ROCM, asks for the device's own,
// which runs read and write in place, nothing copied: an input's holds what the last run read, or its default, or
// zeros. Errors: RUNG_USAGE, RUNG_MEMORY; RUNG_MISMATCH for a device that the session does not run on.
RUNG_API rung_status rung_session_input(rung_session* session, size_t index, rung_device_type where,
                                        rung_tensor* tensor);
RUNG_API rung_status rung_session_output(rung_session* session, size_t index, rung_device_type where,
                                         rung_tensor* tensor);

// Binds memory of the caller's: every run copies from it, or to it, until another is bound. It stays the caller's, who
// keeps it until then, and unchanged while a run is in flight. On the host or on the session's device. Host memory goes
// by way of the session's own; what is said to be RUNG_CUDA_HOST, for a GPU of that kind (RUNG_ROCM_HOST likewise), the
// device copies by itself: that saves the host's copy where it is pinned, and an output is written there even by a run
// whose input values are refused. NULL: an input's default again, an output that is not copied. Errors: RUNG_MISMATCH
// for another dtype, shape or device than the port's, and for strides with gaps or in another order (nothing is copied
// into shape).
RUNG_API rung_status rung_session_bind_input(rung_session* session, size_t index, const rung_tensor* tensor);
RUNG_API rung_status rung_session_bind_output(rung_session* session, size_t index, const rung_tensor* tensor);

// One inference, complete on return: what is bound in host memory is copied to the device, run and copied back with
// one wait at the end. Input values in host memory are checked, while the device runs: the error names the input and
// what is wrong with it (an integer out of range, NaN, an infinity but for -inf in a mask). Errors: RUNG_MISMATCH; an
// index out of range or an integer divided by zero, naming the op; RUNG_DEVICE.
RUNG_API rung_status rung_session_run(rung_session* session);
// The same in a stream of the caller's (a CUstream, cudaStream_t or hipStream_t; NULL: the legacy default stream):
// returns when it is enqueued. Several runs of one session are in order, in whichever streams. Host memory of the
// caller's that is bound to an input is read before this returns, and that of an output is filled by
// rung_session_wait(); but pinned memory (RUNG_CUDA_HOST, RUNG_ROCM_HOST) and the session's own is read and filled when
// the stream comes to it, and stays unchanged until then. Where no other host memory is bound, waiting for the stream
// is enough. Errors: RUNG_USAGE on the processor.
RUNG_API rung_status rung_session_run_async(rung_session* session, void* stream);
// Until all that was enqueued is done. Errors: those of the runs since the last wait.
RUNG_API rung_status rung_session_wait(rung_session* session);

// ---- climbs ----

// The record of one rung of a climb.
typedef struct rung_receipt {
  const char* name;
  const char* reason;  // one line: why it was kept or not
  bool accepted;
  double before_ms, ms;           // of one inference, without it and with it; NaN on an emulator, which has no time
  double ratio, ci_low, ci_high;  // before / after from interleaved runs, and its 95 % confidence interval
  double rel_l2, max_abs;         // against the reference
  int32_t kernels;                // launches with it
  int32_t attempt;                // 2: tried again at the end
} rung_receipt;

// How far a climb is. Valid during the callback.
typedef struct rung_progress {
  const char* what;             // "tuning linear m=128 ..."
  double fraction;              // 0 to 1, of the budget and the steps
  const rung_receipt* receipt;  // of a rung that was just decided; NULL: of none
} rung_progress;

// How to climb. Start from RUNG_CLIMB_OPTIONS_INIT.
typedef struct rung_climb_options {
  size_t size;
  const rung_options* model;        // NULL: RUNG_OPTIONS_INIT. dtype "bf16" climbs the opt-in rung "precision" too
  double budget_s;                  // all it may take, at least 1
  const rung_named_tensor* inputs;  // to verify and time with, in host memory; samples for those left out
  size_t input_count;
  const char* const* freeze;  // names among `inputs` that the plan takes as constants
  size_t freeze_count;
  const char* const* skip;  // rungs not to climb
  size_t skip_count;
  const char* database;  // what tuning found, a file; NULL: the user's own; "": none
  // Called by the thread that climbs, several times a second. false ends the climb at its next step: RUNG_INTERRUPTED,
  // and what was tuned is kept. It must not throw. NULL: none.
  bool (*progress)(void* context, const rung_progress* progress);
  void* context;
} rung_climb_options;
#define RUNG_CLIMB_OPTIONS_INIT \
  { sizeof(rung_climb_options), NULL, 60.0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL }

// The result of a climb: its plan, receipts and reports.
typedef struct rung_climb rung_climb;

// Climbs a model directory. On a GPU, candidates are measured by the tool, `rung`, as a process of its own: it is
// looked for where the environment's RUNG_PROGRAM says, then beside the library and in bin/ beside that. Errors: those
// of rung_model_open(); RUNG_FAILED, the baseline is wrong; RUNG_INTERRUPTED.
RUNG_API rung_status rung_climb_model(const char* path, const rung_climb_options* options, rung_climb** climb);
RUNG_API void rung_climb_free(rung_climb* climb);
RUNG_API size_t rung_climb_receipt_count(const rung_climb* climb);
// Errors: RUNG_USAGE, an index beyond the last.
RUNG_API rung_status rung_climb_receipt(const rung_climb* climb, size_t index, rung_receipt* receipt);

// A plan that a climb compares the one that won with.
typedef enum rung_against {
  RUNG_AGAINST_BASELINE = 0,  // the model as its author wrote it
  RUNG_AGAINST_NO_CLIMB = 1,  // the default plan, which rung_model_open() of a directory gives
} rung_against;
// A race of the two says how much faster the winner is.
typedef struct rung_speedup {
  double claimed;                 // ratio where the interval is clear of 1, or 1; NaN: nothing is claimed
  double before_ms, after_ms;     // of one inference; NaN on an emulator, which has no time
  double ratio, ci_low, ci_high;  // before / after from interleaved runs, and its 95 % confidence interval
  int32_t pairs;                  // of runs in the race; 0: there was none
  const char* unraced;            // why there was none; empty: there was one
} rung_speedup;
// Errors: RUNG_USAGE, no such comparison.
RUNG_API rung_status rung_climb_speedup(const rung_climb* climb, rung_against against, rung_speedup* speedup);

// The texts that a climb gives.
typedef enum rung_climb_text_kind {
  RUNG_CLIMB_REPORT = 0,  // JSON, as `rung climb --json` prints it
  RUNG_CLIMB_RECIPE = 1,  // JSON, of which `rung build --recipe` makes the same plan
  RUNG_CLIMB_HTML = 2,
  RUNG_CLIMB_MARKDOWN = 3,
  RUNG_CLIMB_TRACE = 4,  // JSON of one inference, for Perfetto
} rung_climb_text_kind;
// Lives as long as the climb. NULL for no such kind.
RUNG_API const char* rung_climb_text(const rung_climb* climb, rung_climb_text_kind kind);
// The plan that won, open, to run at once.
RUNG_API rung_status rung_climb_open(const rung_climb* climb, rung_model** model);
// plan.rung, recipe.json, report.html, report.json, report.md and trace.json into a folder, which is made: all or none.
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
  // The recipe's choices that decide nothing in this plan (its shapes are others) are left out, and kernels without a
  // choice are measured. false: such a recipe is refused.
  bool retune;
  double budget_s;       // all that measuring may take
  const char* database;  // what tuning found, a file; NULL: the user's own; "": none
} rung_build_options;
#define RUNG_BUILD_OPTIONS_INIT \
  { sizeof(rung_build_options), NULL, NULL, NULL, 0, NULL, 0, false, 10.0, NULL }

// Builds the plan of a recipe from a model directory, as `rung build` does, and opens it. `options` may be NULL.
// Errors: those of rung_model_open(); RUNG_USAGE, a recipe that cannot be read; RUNG_MISMATCH, a choice of its that
// decides nothing.
RUNG_API rung_status rung_model_build(const char* path, const rung_build_options* options, rung_model** model);

// ---- what the command line also does ----

// Each gives the JSON object that the command of its name prints under --json (docs/json.schema.json); free it with
// rung_free(). `options` may be NULL.
typedef struct rung_task_options {
  size_t size;
  const rung_options* model;        // NULL: RUNG_OPTIONS_INIT
  const rung_named_tensor* inputs;  // host memory; samples for those left out
  size_t input_count;
  const char* recipe;                  // of a model directory: JSON text; NULL: the default one
  int32_t runs;                        // of bench; 0: 200
  double rate_hz;                      // of bench; 0: back to back
  const rung_named_tensor* reference;  // of verify: outputs to compare with; none: rung's own reference, which wants a
  size_t reference_count;              // model directory
  // Asked by the thread that works, between runs, several times a second. false ends verify, bench and profile:
  // RUNG_INTERRUPTED. It must not throw. NULL: they go on.
  bool (*goes_on)(void* context);
  void* context;
} rung_task_options;
#define RUNG_TASK_OPTIONS_INIT \
  { sizeof(rung_task_options), NULL, NULL, 0, NULL, 0, 0, NULL, 0, NULL, NULL }

// A verification that fails is RUNG_OK with "passed": false.
RUNG_API rung_status rung_verify(const char* path, const rung_task_options* options, char** json);
RUNG_API rung_status rung_bench(const char* path, const rung_task_options* options, char** json);
RUNG_API rung_status rung_profile(const char* path, const rung_task_options* options, char** json);
RUNG_API rung_status rung_explain(const char* path, const rung_task_options* options, char** json);

// Options of a comparison of two models. Start from RUNG_COMPARE_OPTIONS_INIT.
typedef struct rung_compare_options {
  size_t size;
  const rung_options* model;  // of both; where one is a plan, of the model directory alone; NULL: RUNG_OPTIONS_INIT
  const rung_named_tensor* inputs;  // host memory; samples for those left out
  size_t input_count;
  const char *recipe_a, *recipe_b;  // of model directories: JSON text; NULL: the default one
  const char *tool_a, *tool_b;      // programs `rung` of other builds, which then run the side; NULL: this one
  double max_slowdown;              // how much longer than A one inference of B may take: 0.03 is 3 %
  double budget_s;                  // of the race, at least 1
} rung_compare_options;
#define RUNG_COMPARE_OPTIONS_INIT \
  { sizeof(rung_compare_options), NULL, NULL, 0, NULL, NULL, NULL, NULL, 0.03, 20.0 }

// Runs two plans or model directories in turns, as `rung compare` does, and gives its JSON object, whose "verdict" says
// which is faster; free it with rung_free(). `b` may be NULL: `a` by another recipe or tool. `options` may be NULL. A
// slower B is RUNG_OK. Errors: those of rung_model_open(); RUNG_MISMATCH, other inputs or devices.
RUNG_API rung_status rung_compare(const char* a, const char* b, const rung_compare_options* options, char** json);

// Frees a text that one of these gave. NULL is none.
RUNG_API void rung_free(char* text);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*)
