// The ordered lists of passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.hpp"

namespace rung {

// Runs ahead of all others, from a graph as its author wrote it, too, and cannot be disabled.
const Pass& first_pass();
// Each op in one form, whatever way its author wrote it. They run before all others and again after those that say so,
// until none of them changes the graph: what a rung gains is then its own. Only a recipe that asks for the graph as its
// author wrote it goes without them.
std::span<const Pass> canonical_passes();
// The passes of rungs.
std::span<const Pass> pipeline();

}  // namespace rung
