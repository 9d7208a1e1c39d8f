// FAST's tokens of actions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "rung/language_model.h"

namespace rung::python {

namespace nb = nanobind;

// A tokenizer of a robot's actions. Any number of threads may use it.
class ActionTokenizer {
 public:
  // Errors: those of rung_action_tokenizer_open().
  ActionTokenizer(nb::handle directory, int64_t horizon, int64_t dims);
  nb::list encode(nb::handle actions) const;
  // Chunks are float64 of NumPy, [horizon, dims].
  nb::object decode(nb::handle tokens) const;
  nb::object decode_policy(nb::handle written, int64_t vocabulary, int64_t skipped) const;
  rung_action_shape shape() const { return rung_action_tokenizer_shape(handle_.get()); }

 private:
  template <class Decode>
  nb::object chunk(const Decode& decode) const;
  std::shared_ptr<rung_action_tokenizer> handle_;
};

void bind_action_tokenizer(nb::module_& module);

}  // namespace rung::python
