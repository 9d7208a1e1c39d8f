// The kept words of a captured file: numbers and known names. Names of users, addresses and keys are neither.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::doctor {

enum class Vocabulary : unsigned char {
  settings,  // words of drivers' and kernels' settings
  products,  // also names of processors and GPUs, and short words with digits such as 9654 and HBM3
};

// Returns the text with every other word as "<text, 8 characters>".
std::string kept_words(std::string_view text, Vocabulary vocabulary);

}  // namespace rung::doctor
