// A kernel's parameters as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include "kernels/choice.hpp"

namespace rung {

// Returns " tile=642 throttle=0", to stand behind the kernel's name; empty if there are no parameters.
inline std::string params_text(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace rung
