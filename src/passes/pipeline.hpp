// The ordered lists of passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.hpp"

namespace rung {

// The passes that run ahead of all others, over graphs as their authors wrote them too; no recipe disables them.
std::span<const Pass> first_passes();
// Passes that bring each op into one form, whatever way its author wrote it. They run before all others and again
// after passes with then_canonical, until none of them changes the graph: a rung's gain is then its own. Only a recipe
// that asks for the graph as its author wrote it runs none.
std::span<const Pass> canonical_passes();
// The passes of the rungs, in the order they run.
std::span<const Pass> pipeline();

}  // namespace rung
