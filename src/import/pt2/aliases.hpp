// Names of an exported program that stand for parts of one tensor: a call that writes one of them changes all.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "import/pt2/call.hpp"

namespace rung::pt2 {

// Returns whether an operator changes its first argument, by the underscore behind its name.
bool is_in_place(std::string_view target);

// Returns whether it writes elements, as "aten.add_.Tensor" does: "aten.unsqueeze_.default" changes the shape alone.
bool writes(std::string_view target);

// The results of a call have elements of their own, those of the first argument, or either, as layouts say.
enum class Sharing : uint8_t { own, views, unsaid };
Sharing sharing_of(std::string_view target);

// Returns `base` with `part` in place of every step-th element of an axis from `start` on.
struct Steps {
  int axis;
  int64_t start, step;
};
NodeId put_steps(const Call& view, NodeId base, NodeId part, const Steps& at);

// Returns `base` with `part` in place of what a view of it shows. Throws for views that cannot be written through.
NodeId put_back(const Call& view, NodeId base, NodeId part);

}  // namespace rung::pt2
