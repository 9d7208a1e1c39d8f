// Model and Session as Python sees them: names, signatures, docstrings.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "core/errors.hpp"
#include "core/model.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

constexpr const char* kCall = R"(One inference, complete on return but for tensors on a GPU.

Arguments: an array for each input by its name, of exactly the dtype and shape that `inputs` tells, row-major without
gaps: NumPy arrays, PyTorch tensors or others with DLPack. Nothing is cast or copied into shape. Inputs left out take
their defaults, or what stands in the memory that input() gave. `out` maps outputs' names to arrays to write.

Returns: a dict of all outputs by name, fresh at each call but for those in `out`. If any input or array in `out` is a
PyTorch tensor on the model's GPU: tensors there, computed in PyTorch's current stream, asynchronously as PyTorch's own
operations are. If all inputs are PyTorch tensors on the host: such tensors. Otherwise NumPy arrays. bfloat16 in NumPy
is ml_dtypes' where that is installed, otherwise its bytes as uint16.

Errors: MismatchError, a missing or unknown name, a dtype, shape, layout, device or value other than the model's;
UsageError, closed, or in use by another thread; DeviceError. The GIL is released while it runs.)";

constexpr const char* kInput = R"(The session's own memory of an input, the same at every call.

With where="host" a NumPy array that the host writes (pinned where the device is a GPU); with where="device" an object
with DLPack over memory of the device's own, for torch.from_dlpack(). Every run() reads what is written there. It starts
as the input's default, or zeros; a call that is given an array for this input may overwrite it. It may be kept after
close().

Errors: MismatchError, no such input; UsageError, another `where`; OutOfMemoryError.)";

constexpr const char* kOutput =
    R"(The session's own memory of an output, the same at every call: what the last run or call gave.

`where` is as input() has it. Errors: MismatchError, no such output; UsageError, another `where`; OutOfMemoryError.)";

constexpr const char* kRun = R"(One inference on what stands in the memory that input() and output() gave.

Without `stream`, complete on return. `stream` is an address, such as torch.cuda.current_stream().cuda_stream, or an
object with that attribute: then it returns when all is enqueued there, and wait() ends when host memory is filled.

Errors: MismatchError, a value that an input cannot have; UsageError, closed, in use by another thread, or a stream on
the processor; DeviceError. The GIL is released while it runs.)";

constexpr const char* kWait =
    "Until all that run(stream) enqueued is done. Errors: those of the runs since the last wait.";
constexpr const char* kEncode =
    R"(What the model's own tokenizer makes of a text: NumPy arrays of shape (1, length) by input.

What it gives is a dict, which a call spreads out: model(**model.encode(text)). It also has `tokens`, the text's number
of tokens, and `truncated`, whether the plan has room for fewer. `truncate` decides what becomes of such a text: "warn"
cuts it and says so by a rung.TruncationWarning, "cut" cuts it, "error" refuses it. `second` is a text that the model
reads with the first one, such as the passage for a question.

Errors: MismatchError, the model has no tokenizer, or none for two texts, an input of another shape than the text's, or a
text that is too long and not to be cut, or too short and there is no token to fill it up; UsageError, no text, or
another word for `truncate`.)";
constexpr const char* kEncodeSignature =
    "def encode(self, text: str, truncate: typing.Literal['warn', 'cut', 'error'] = 'warn', *, second: str | None = "
    "None) "
    "-> rung._types.Encoded";
constexpr const char* kDecode = R"(The text of token ids, by the model's own tokenizer.

`ids` is a sequence of ints, such as a list, or an array or a tensor of one axis. `skip_special_tokens` leaves out
tokens such as [SEP]. `clean_up_tokenization_spaces` takes blanks from before English marks and endings ("it 's , ok"),
as transformers does it; None: as tokenizer_config.json says.

Errors: MismatchError, the model has no tokenizer, or an id is of no token; UsageError, no ints; FileError, a decoder of
tokenizer.json that is not supported.)";
constexpr const char* kDecodeSignature =
    "def decode(self, ids: collections.abc.Sequence[int] | typing.Any, skip_special_tokens: bool = True, *, "
    "clean_up_tokenization_spaces: bool | None = None) -> str";
// `out` is any: a checker takes a dict that a call spreads out for `out` too.
constexpr const char* kCallSignature =
    "def __call__(self, *, out: typing.Any = None, **inputs: typing.Any) -> dict[str, typing.Any]";
constexpr const char* kPortsSignature = "def inputs(self) -> collections.abc.Mapping[str, rung._types.Port]";
constexpr const char* kOutputsSignature = "def outputs(self) -> collections.abc.Mapping[str, rung._types.Port]";
constexpr const char* kInputSignature =
    "def input(self, name: str, where: typing.Literal['host', 'device'] = 'host') -> typing.Any";
constexpr const char* kOutputSignature =
    "def output(self, name: str, where: typing.Literal['host', 'device'] = 'host') -> typing.Any";
constexpr const char* kRunSignature = "def run(self, stream: typing.Any = None) -> None";
constexpr const char* kExitSignature = "def __exit__(self, *_: object) -> None";

Session& session_of(Session& session) { return session; }
Session& session_of(Model& model) { return model.session(); }

// What a session and a model, by its own session, have alike.
template <class T>
nb::class_<T> bind_runs(nb::module_& module, const char* name, const char* doc) {
  static const std::string enter = "def __enter__(self) -> " + std::string(name);
  nb::class_<T> type(module, name, doc);
  type.def(
          "__call__",
          [](T& self, const nb::args& unnamed, const nb::kwargs& arguments) {
            return session_of(self).call(unnamed, arguments);
          },
          nb::sig(kCallSignature), kCall)
      .def(
          "input",
          [](T& self, nb::handle port, const std::string& where) { return session_of(self).input(port, where); },
          nb::arg("name"), nb::arg("where") = "host", nb::sig(kInputSignature), kInput)
      .def(
          "output",
          [](T& self, nb::handle port, const std::string& where) { return session_of(self).output(port, where); },
          nb::arg("name"), nb::arg("where") = "host", nb::sig(kOutputSignature), kOutput)
      .def(
          "run", [](T& self, nb::object stream) { session_of(self).run(stream); },
          nb::arg("stream").none() = nb::none(), nb::sig(kRunSignature), kRun)
      .def(
          "wait", [](T& self) { session_of(self).wait(); }, kWait)
      .def(
          "select", [](T& self, nb::handle shapes) { session_of(self).select(shapes); }, nb::arg("shapes"),
          nb::sig("def select(self, shapes: collections.abc.Mapping[str, collections.abc.Sequence[int]]) -> None"),
          "Of a model with several plans: input(), output() and run() are from now on those of the plan for these "
          "shapes, such as {'input_ids': (1, 16)}. A call selects by the shapes of its arrays. Errors: MismatchError, "
          "no plan serves them, or several do.")
      .def("close", &T::close, "Ends it; calls are refused from then on, memory that it gave stays while it is kept.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig(enter.c_str()))
      .def(
          "__exit__", [](T& self, const nb::args&) { self.close(); }, nb::sig(kExitSignature))
      .def_prop_ro(
          "inputs", [](T& self) { return self.facts().input_map; }, nb::sig(kPortsSignature),
          "The inputs by name: their dtype, shape, and whether they have no default.")
      .def_prop_ro(
          "outputs", [](T& self) { return self.facts().output_map; }, nb::sig(kOutputsSignature),
          "The outputs by name: their dtype and shape.")
      .def_prop_ro(
          "device", [](T& self) { return self.facts().device_word(); }, "Where it runs: \"cpu\", \"cuda:0\".");
  return type;
}

}  // namespace

void bind_models(nb::module_& module) {
  bind_runs<Session>(module, "Session",
                     "What one thread runs: a model's launches with memory of their own, sharing the model's weights. "
                     "Made by Model.session().");
  bind_runs<Model>(module, "Model",
                   "A plan and its weights, ready to run; made by rung.load(). Its own calls run in a session of its "
                   "own, which one thread uses at a time.")
      .def("session", &Model::open_session,
           "A session of its own for another thread. Errors: OutOfMemoryError; UsageError, the model is closed.")
      .def("encode", &Model::encode, nb::arg("text"), nb::arg("truncate") = "warn", nb::kw_only(),
           nb::arg("second") = nb::none(), nb::sig(kEncodeSignature), kEncode)
      .def("decode", &Model::decode, nb::arg("ids"), nb::arg("skip_special_tokens") = true, nb::kw_only(),
           nb::arg("clean_up_tokenization_spaces") = nb::none(), nb::sig(kDecodeSignature), kDecode)
      .def_prop_ro("shapes", &Model::shapes, nb::sig("def shapes(self) -> tuple[dict[str, tuple[int, ...]], ...]"),
                   "The shapes of inputs that it serves: for each of its plans, those of the inputs by name.")
      .def("save", &Model::save, nb::arg("path"),
           nb::sig("def save(self, path: str | bytes | os.PathLike[str]) -> None"),
           "Writes its plan to a file (*.rung), which rung.load() opens: whole, or not at all. Errors: FileError.")
      .def("__repr__", &Model::repr);
  module.def("load", &load, nb::arg("path").none(), nb::arg("options"),
             nb::sig("def load(path: str | bytes | os.PathLike[str], options: dict[str, typing.Any]) -> Model"),
             "Opens a plan or a model directory; rung.load() says more.");
  module.def("join", &join, nb::arg("models"), nb::sig("def join(models: list[Model]) -> Model"),
             "One model of the plans of several; rung.join() says more.");
  module.def("build", &build, nb::arg("path").none(), nb::arg("options"),
             nb::sig("def build(path: str | bytes | os.PathLike[str], options: dict[str, typing.Any]) -> Model"),
             "Builds the plan of a recipe; rung.build() says more.");
}

}  // namespace rung::python
