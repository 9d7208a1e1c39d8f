// Maps categories of Kineto's events to kinds of events.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

#include "trace/recording/recording.hpp"

namespace rung::trace {

struct CategoryRule {
  std::string_view category;
  std::optional<EventKind> kind;  // none: left out
  std::string_view left_out_as;
};

// Looks up a category by its name between the quotes; null: not Kineto's.
const CategoryRule* rule_of_category(std::string_view category);

}  // namespace rung::trace
