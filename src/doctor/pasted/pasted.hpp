// A machine described by another machine's text: the output of one or several programs in one file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "doctor/snapshot.hpp"

namespace rung::doctor {

struct Pasted {
  Snapshot machine;
  std::vector<std::string_view> forms;  // "rocm-smi", "env", in the order of the text, each once
};

// Recognizes each part by its content: PyTorch's (or vLLM's) collect_env, rocm-smi, rocminfo, nvidia-smi, nvidia-smi
// -q, env. Errors: no known part. `name`: the file's, for the error.
Result<Pasted> read_pasted(std::string_view name, std::string_view text);

}  // namespace rung::doctor
