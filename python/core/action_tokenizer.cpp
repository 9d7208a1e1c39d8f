// Actions as arrays of NumPy, and their tokens as lists.
// SPDX-License-Identifier: Apache-2.0
#include "core/action_tokenizer.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <vector>

#include "core/errors.hpp"
#include "core/gil.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// All values of an array, or of what NumPy makes one of, row by row.
std::vector<double> values_of(nb::handle actions) {
  const nb::object flat =
      nb::module_::import_("numpy").attr("ascontiguousarray")(actions, "float64").attr("reshape")(-1);
  const auto values = nb::cast<Values>(flat);
  return {values.data(), values.data() + values.size()};
}

constexpr const char* kActionClass =
    R"(FAST's tokenizer of a robot's actions: a chunk of them as a byte-pair encoding of
rounded cosine coefficients. Any number of threads may use one.

ActionTokenizer(directory, *, horizon=0, dims=0): `directory` has tokenizer.json and processor_config.json; `horizon`
(times) and `dims` (values at each time) are of a chunk, where the files do not say them. Errors: FileError;
MismatchError, a size that nobody says, or that both say differently.)";
constexpr const char* kActionEncode = R"(The tokens of a chunk, an array of shape (horizon, dims).

Errors: UsageError, another number of values, or one that no token stands for.)";
constexpr const char* kActionDecode = R"(The chunk of tokens: float64 of NumPy, of shape (horizon, dims).

Errors: MismatchError, a token that the files do not have, tokens of more or fewer coefficients than a chunk has.)";
constexpr const char* kActionDecodePolicy = R"(The chunk that a policy's language model wrote, among words and marks.

`vocabulary` is the number of that model's tokens; `skipped` of them at its end are special ones, behind those of
actions. Errors: those of decode(); MismatchError, no action tokens, or some that stand apart.)";
#define RUNG_ACTION_TOKENS_TYPE "collections.abc.Sequence[int] | typing.Any"

}  // namespace

ActionTokenizer::ActionTokenizer(nb::handle directory, int64_t horizon, int64_t dims) {
  const std::string path = path_of(directory, "directory");
  const rung_action_shape shape{horizon, dims};
  rung_action_tokenizer* opened = nullptr;
  check(without_gil([&] { return rung_action_tokenizer_open(path.c_str(), &shape, &opened); }));
  handle_ = {opened, rung_action_tokenizer_close};
}

nb::list ActionTokenizer::encode(nb::handle actions) const {
  const std::vector<double> values = values_of(actions);
  std::vector<int64_t> tokens(values.size());  // none of them takes more
  rung_tokens place{tokens.data(), tokens.size(), 0};
  const auto write = [&] { return rung_action_tokenizer_encode(handle_.get(), values.data(), values.size(), &place); };
  check(without_gil(write));
  nb::list list;
  for (size_t i = 0; i < place.count; ++i) list.append(tokens[i]);
  return list;
}

template <class Decode>
nb::object ActionTokenizer::chunk(const Decode& decode) const {
  const rung_action_shape sizes = shape();
  int64_t extents[] = {sizes.horizon, sizes.dims};
  auto values = std::make_shared<std::vector<double>>(static_cast<size_t>(sizes.horizon * sizes.dims));
  check(without_gil([&] { return decode(values->data(), values->size()); }));
  const rung_tensor tensor{values->data(), {RUNG_CPU, 0}, 2, {RUNG_FLOAT, 64, 1}, extents, nullptr, 0};
  return array_over(tensor, own(values));
}

nb::object ActionTokenizer::decode(nb::handle tokens) const {
  const std::vector<int64_t> numbers = token_ids(tokens);
  return chunk([&](double* to, size_t count) {
    return rung_action_tokenizer_decode(handle_.get(), numbers.data(), numbers.size(), to, count);
  });
}

nb::object ActionTokenizer::decode_policy(nb::handle written, int64_t vocabulary, int64_t skipped) const {
  const std::vector<int64_t> numbers = token_ids(written);
  const rung_policy_tokens tokens{numbers.data(), numbers.size(), vocabulary, skipped};
  return chunk(
      [&](double* to, size_t count) { return rung_action_tokenizer_decode_policy(handle_.get(), &tokens, to, count); });
}

void bind_action_tokenizer(nb::module_& module) {
  nb::class_<ActionTokenizer>(module, "ActionTokenizer", kActionClass)
      .def(nb::init<nb::handle, int64_t, int64_t>(), nb::arg("directory"), nb::kw_only(), nb::arg("horizon") = 0,
           nb::arg("dims") = 0,
           nb::sig("def __init__(self, directory: str | bytes | os.PathLike[str], *, horizon: int = 0, dims: int = 0) "
                   "-> None"))
      .def("encode", &ActionTokenizer::encode, nb::arg("actions"),
           nb::sig("def encode(self, actions: typing.Any) -> list[int]"), kActionEncode)
      .def("decode", &ActionTokenizer::decode, nb::arg("tokens"),
           nb::sig("def decode(self, tokens: " RUNG_ACTION_TOKENS_TYPE ") -> typing.Any"), kActionDecode)
      .def("decode_policy", &ActionTokenizer::decode_policy, nb::arg("written"), nb::arg("vocabulary"), nb::kw_only(),
           nb::arg("skipped") = 128,
           nb::sig("def decode_policy(self, written: " RUNG_ACTION_TOKENS_TYPE
                   ", vocabulary: int, *, skipped: int = 128) -> "
                   "typing.Any"),
           kActionDecodePolicy)
      .def_prop_ro(
          "shape", [](const ActionTokenizer& self) { return nb::make_tuple(self.shape().horizon, self.shape().dims); },
          nb::sig("def shape(self) -> tuple[int, int]"), "The sizes of a chunk: (horizon, dims).");
}

}  // namespace rung::python
