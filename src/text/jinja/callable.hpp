// Functions of the language, its filters, its tests and its values' methods: rows of tables, and what a call gives
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/run.hpp"

namespace rung::jinja {

struct CallArguments {
  Values positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Bound;

struct Callable {
  const char* name;
  // The names of the parameters, in order, with a blank between them; those with '?' may be left out. Of a filter, a
  // test or a method the first one is the value itself. "*" takes any further values, "**" any further names.
  const char* parameters;
  Result<Value> (*call)(Run&, const Bound&);
};
using Callables = std::span<const Callable>;

// The arguments of a call, by the place of their parameter.
class Bound {
 public:
  // Errors: too many arguments, too few, a name that no parameter has.
  static Result<Bound> bind(const Callable& callable, CallArguments arguments);

  // An argument that is left out counts as none.
  bool has(size_t place) const { return values_[place].has_value() && !values_[place]->is_none(); }
  const Value& operator[](size_t place) const;
  // Each reads an argument, or takes what stands for one that is left out. Errors: of another kind.
  Result<std::string> text(size_t place) const;
  Result<std::string> text_or(size_t place, std::string otherwise) const;
  Result<int64_t> integer(size_t place) const;
  Result<int64_t> integer_or(size_t place, int64_t otherwise) const;
  bool truth_or(size_t place, bool otherwise) const;

  const CallArguments& further() const { return further_; }
  tl::unexpected<Error> wrong(size_t place, std::string_view wanted) const;

 private:
  explicit Bound(const Callable& callable) : callable_(&callable) {}
  const Callable* callable_;
  std::vector<std::optional<Value>> values_;
  CallArguments further_;
};

// Returns the row of a name, or null.
const Callable* find(Callables table, std::string_view name);
Result<Value> call(Run& run, const Callable& callable, CallArguments arguments);
// Makes a function of a row; `self`, if any, is its first argument.
Value function_of(const Callable& callable, std::optional<Value> self = {});

// Call a filter or a test by its name, with the value as the first argument. Errors: there is none of that name.
Result<Value> call_filter(Run& run, std::string_view name, CallArguments arguments);
Result<bool> call_test(Run& run, std::string_view name, CallArguments arguments);

Callables functions();
Callables filters();
Callables filters_of_sequences();
Callables tests();
Callables methods_of_texts();
Callables methods_of_sequences();
Callables methods_of_dictionaries();
Callables methods_of_loops();

}  // namespace rung::jinja
