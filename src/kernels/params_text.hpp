// A kernel's parameters in words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include "kernels/choice.hpp"

namespace rung {

// " tile=642 throttle=0", to stand behind the kernel's name; empty where all are the defaults.
inline std::string params_text(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace rung
