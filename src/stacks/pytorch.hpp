// The demands of an installed PyTorch on a file of TunableOp results, asked of its Python.
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
  // Does it run algorithms of cuBLASLt that a file names, or its default alone? (Of the build for NVIDIA.)
  bool takes_cublaslt = false;
};

// `python`: a program, by path or as the shell would find it. Importing PyTorch takes seconds. Errors: no such program,
// no PyTorch in it, one that has no TunableOp.
Result<PyTorch> ask_pytorch(const std::string& python);
// The PyTorch that validators tell of.
PyTorch pytorch_of(Validators validators);

// Reads the answer of the Python that is asked out of its standard error, where other text may stand around it.
PyTorch parse_answer(std::string_view text);

}  // namespace rung::stacks
