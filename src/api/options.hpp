// The C interface's options in the library's own words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "open/options.hpp"
#include "plan/plan_set.hpp"
#include "rung/rung.h"
#include "text/tokenizer.hpp"

namespace rung {

// Converts the options for opening a path. Errors: RUNG_USAGE, an invalid option.
Result<OpenOptions> model_options(const char* path, const rung_options* options);

// Returns the caller's array that an option points to. Errors: RUNG_USAGE, NULL with a count above 0.
template <class T>
Result<std::span<const T>> array_of(const T* first, size_t count, const char* name) {
  if (!first && count > 0) return wrong_usage("got NULL for '{}', of {}", name, count);
  return std::span(first, count);
}
// Convert shapes and texts. Errors: RUNG_USAGE, a shape that no input can have, a name twice, or NULL.
Result<Shapes> shapes_of(const rung_named_shape* first, size_t count);
Result<std::vector<std::string>> texts_of(const char* const* first, size_t count, const char* name);
// Copies host tensors.
Result<GivenArrays> arrays_of(const rung_named_tensor* first, size_t count, const char* name);

// Converts the options for decoding token ids. Errors: RUNG_USAGE, an invalid option.
Result<DecodeOptions> decode_options(const rung_decode_options* options);
// Checks the caller's place for a text. Errors: RUNG_USAGE, NULL.
Status check_place(const rung_text* text);
// Writes a text with a NUL behind it where there is room for both, and says how long it is.
void write_text(const std::string& text, rung_text& place);

// Opens the plans that a path names; of a directory, that of the default recipe. Errors: those of rung_model_open().
Result<PlanSet> plans_at(const char* path, const rung_options* options);
// Builds the plan of a recipe. Errors: those of rung_model_build().
Result<std::shared_ptr<const Plan>> built_plan(const char* path, const rung_build_options* options);

}  // namespace rung
