// Attributes, items and slices of values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

#include "text/jinja/run.hpp"

namespace rung::jinja {

// Returns `value.name`: a method, or else an item of that key. What is not there is undefined. Errors: the value itself
// is undefined.
Result<Value> attribute_of(Run& run, const Value& value, std::string_view name);
// Returns `value[key]`: an item, or else an attribute of that name.
Result<Value> item_of(Run& run, const Value& value, const Value& key);
// Follows a path such as "function.name" or "0", as filters take it.
Result<Value> item_at_path(Run& run, const Value& value, const Value& path);

struct Bounds {
  std::optional<int64_t> begin, end, step;
};
Result<Value> slice_of(Run& run, const Value& value, const Bounds& bounds);

}  // namespace rung::jinja
