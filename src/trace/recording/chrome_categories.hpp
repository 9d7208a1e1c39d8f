// The categories of Kineto's events, and what becomes of events of each.
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

// By its name, between the quotes. Null: not Kineto's.
const CategoryRule* rule_of_category(std::string_view category);

}  // namespace rung::trace
