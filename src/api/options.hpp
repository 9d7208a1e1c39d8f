// The C interface's options in the library's own words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "open/open_model.hpp"
#include "rung/rung.h"

namespace rung {

// Errors: RUNG_USAGE, what cannot be meant.
Result<rung_options> checked(const rung_options* options);
Result<OpenOptions> open_options(const rung_options& options);

// The plan that a path names; of a directory, that of the default recipe. Errors: those of rung_model_open().
Result<std::shared_ptr<const Plan>> plan_at(const char* path, const rung_options* options);

}  // namespace rung
