// The text of `rung inspect --scopes`: a tree of the author's scopes with their launches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tasks/scopes.hpp"

namespace rung::cli {

// Returns a line per scope and per launch. Neighbours whose names are numbers and that are alike otherwise (the layers
// of a stack) are one.
std::string scopes_text(const tasks::Scope& whole);

}  // namespace rung::cli
