// Which words of a captured file are kept: numbers and what is known by name. A name, an address or a key is neither.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::doctor {

enum class Vocabulary : unsigned char {
  settings,  // what drivers and kernels call their settings
  products,  // names of processors and GPUs, too, and short words with digits such as 9654 and HBM3
};

// The text with every other word as "<text, 8 characters>".
std::string kept_words(std::string_view text, Vocabulary vocabulary);

}  // namespace rung::doctor
