// Operators on two values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "text/jinja/run.hpp"
#include "text/jinja/syntax.hpp"

namespace rung::jinja {

// Computes a + b and the like. Errors: kinds that the operator does not take; a division by zero; an integer beyond 64
// bits.
Result<Value> compute(Run& run, Operator op, const Value& a, const Value& b);
// Compares a < b and the like, and finds a within b. Errors: kinds that have no order; a `b` without items.
Result<bool> compare(Run& run, Operator op, const Value& a, const Value& b);
Result<bool> is_less(Run& run, const Value& a, const Value& b);

// Sorts items by their keys and keeps the order of equal ones. Errors: keys that have no order.
struct Keyed {
  Value key, item;
};
Status sort_by_key(Run& run, std::vector<Keyed>& items, bool reverses);

// Fills in the conversions of a format such as "%s: %5.1f". `given` is a tuple, a dictionary, or one value.
Result<std::string> formatted(Run& run, const std::string& format, const Value& given);

// Errors: the value is undefined.
Status check_defined(const Value& value);

}  // namespace rung::jinja
