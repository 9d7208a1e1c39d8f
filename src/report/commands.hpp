// Command lines that say again what a climb was asked.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ladder/result.hpp"

namespace rung::report {

// One word of a POSIX shell.
std::string quoted(const std::string& text);

// The model and what was said of it: "MODEL --device cpu --threads 2 --shape input_ids=1,128", without its precision.
std::string subject_words(const ClimbResult& result);
// The same with another number of threads, or another shape of one input ("input_ids=1,64").
struct Changed {
  int threads = 0;    // 0: the same
  std::string shape;  // empty: the same
};
std::string subject_words(const ClimbResult& result, const Changed& changed);
std::string dtype_words(const ClimbResult& result);       // " --dtype bf16" where that was climbed
std::string kept_dtype_words(const ClimbResult& result);  // where the recipe has it
std::string recipe_words(const ClimbResult& result);  // " --recipe recipe.json", with the precision that it was left in
std::string climb_command(const ClimbResult& result);

}  // namespace rung::report
