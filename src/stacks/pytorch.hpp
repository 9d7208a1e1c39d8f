// The requirements of an installed PyTorch on a file of TunableOp results, asked of its Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung::stacks {

using Validators = std::map<std::string, std::string, std::less<>>;  // "PT_VERSION" -> "2.11.0"

struct PyTorch {
  Validators validators;
  // States whether it runs the cuBLASLt algorithms that a file names, or only its default (in builds for NVIDIA).
  bool takes_cublaslt = false;
};

// `python`: a program, by path or as the shell would find it. Importing PyTorch takes seconds. Errors: no such program,
// no PyTorch in it, a PyTorch without TunableOp.
Result<PyTorch> ask_pytorch(const std::string& python);
// Returns the PyTorch that has these validators.
PyTorch pytorch_of(Validators validators);

// Reads Python's answer from its standard error, which may contain other text.
PyTorch parse_answer(std::string_view text);

}  // namespace rung::stacks
