// Builds command lines that repeat a climb's request.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ladder/result.hpp"

namespace rung::report {

// Quotes text as one word of a POSIX shell.
std::string quoted(const std::string& text);

// Returns the model and its options: "MODEL --device cpu --threads 2 --shape input_ids=1,128", without its precision.
std::string subject_words(const ClimbResult& result);
// The same options with another number of threads, or another shape of one input ("input_ids=1,64").
struct Changed {
  int threads = 0;    // 0: the same
  std::string shape;  // empty: the same
};
std::string subject_words(const ClimbResult& result, const Changed& changed);
std::string dtype_words(const ClimbResult& result);       // " --dtype bf16" if the climb tried it
std::string kept_dtype_words(const ClimbResult& result);  // if the recipe has it
std::string recipe_words(const ClimbResult& result);      // " --recipe recipe.json" with its final precision
std::string climb_command(const ClimbResult& result);

}  // namespace rung::report
