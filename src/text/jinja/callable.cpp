// Gives each parameter its argument.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/callable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rung::jinja {
namespace {

struct ParameterNames {
  std::vector<std::string_view> names;
  size_t required = 0;
  bool takes_values = false, takes_names = false;
};

ParameterNames names_of(std::string_view parameters) {
  ParameterNames out;
  while (!parameters.empty()) {
    std::string_view name = parameters.substr(0, parameters.find(' '));
    parameters.remove_prefix(std::min(parameters.size(), name.size() + 1));
    if (name == "*" || name == "**") {
      (name == "*" ? out.takes_values : out.takes_names) = true;
      continue;
    }
    if (name.ends_with('?'))
      name.remove_suffix(1);
    else
      ++out.required;
    out.names.push_back(name);
  }
  return out;
}

const Value kNone;

}  // namespace

Result<Bound> Bound::bind(const Callable& callable, CallArguments arguments) {
  const ParameterNames parameters = names_of(callable.parameters);
  Bound bound(callable);
  bound.values_.resize(parameters.names.size());
  Values& values = arguments.positional;
  const size_t placed = std::min(values.size(), parameters.names.size());
  for (size_t i = 0; i < placed; ++i) bound.values_[i] = std::move(values[i]);
  if (values.size() > placed && !parameters.takes_values)
    return mismatch("'{}': got {} arguments, wanted at most {}", callable.name, values.size(), placed);
  bound.further_.positional.assign(values.begin() + static_cast<std::ptrdiff_t>(placed), values.end());
  for (auto& [name, value] : arguments.named) {
    const auto found = std::find(parameters.names.begin(), parameters.names.end(), name);
    const auto place = static_cast<size_t>(found - parameters.names.begin());
    if (found != parameters.names.end() && !bound.values_[place])
      bound.values_[place] = std::move(value);
    else if (found == parameters.names.end() && parameters.takes_names)
      bound.further_.named.emplace_back(name, std::move(value));
    else
      return mismatch("'{}': got '{}' {}, wanted the parameters '{}'", callable.name, name,
                      found == parameters.names.end() ? "as an argument's name" : "twice", callable.parameters);
  }
  for (size_t i = 0; i < parameters.required; ++i)
    if (!bound.values_[i])
      return rung::mismatch("'{}': got no '{}', wanted a value", callable.name, parameters.names[i]);
  return bound;
}

const Value& Bound::operator[](size_t place) const { return values_[place] ? *values_[place] : kNone; }

tl::unexpected<Error> Bound::wrong(size_t place, std::string_view wanted) const {
  const Value& value = (*this)[place];
  const auto* undefined = std::get_if<Undefined>(&value.is);
  return mismatch("'{}': got {} as '{}', wanted {}", callable_->name, undefined ? *undefined->why : kind_of(value),
                  names_of(callable_->parameters).names[place], wanted);
}

Result<std::string> Bound::text(size_t place) const {
  const std::string* text = (*this)[place].text();
  if (!text) return wrong(place, "a text");
  return *text;
}

Result<std::string> Bound::text_or(size_t place, std::string otherwise) const {
  if (!has(place)) return otherwise;
  return text(place);
}

Result<int64_t> Bound::integer(size_t place) const {
  int64_t room = 0;
  const int64_t* integer = as_integer((*this)[place], room);
  if (!integer) return wrong(place, "an integer");
  return *integer;
}

Result<int64_t> Bound::integer_or(size_t place, int64_t otherwise) const {
  if (!has(place)) return otherwise;
  return integer(place);
}

bool Bound::truth_or(size_t place, bool otherwise) const { return has(place) ? is_true((*this)[place]) : otherwise; }

const Callable* find(Callables table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Callable& row) { return name == row.name; });
  return found == table.end() ? nullptr : &*found;
}

Result<Value> call(Run& run, const Callable& callable, CallArguments arguments) {
  RUNG_CHECK(run.spend_steps(1 + arguments.positional.size() + arguments.named.size()));
  RUNG_TRY(const Bound bound, Bound::bind(callable, std::move(arguments)));
  return callable.call(run, bound);
}

Value function_of(const Callable& callable, std::optional<Value> self) {
  auto function = std::make_shared<Function>();
  function->name = callable.name;
  function->call = [&callable, self](Run& run, CallArguments arguments) -> Result<Value> {
    if (self) arguments.positional.insert(arguments.positional.begin(), *self);
    return jinja::call(run, callable, std::move(arguments));
  };
  return Value(std::shared_ptr<const Function>(std::move(function)));
}

Result<Value> call_filter(Run& run, std::string_view name, CallArguments arguments) {
  for (const Callables table : {filters(), filters_of_sequences()})
    if (const Callable* row = find(table, name)) return call(run, *row, std::move(arguments));
  return mismatch("got the filter '{}', which is not supported", name);
}

Result<bool> call_test(Run& run, std::string_view name, CallArguments arguments) {
  const Callable* row = find(tests(), name);
  if (!row) return mismatch("got the test '{}', which is not supported", name);
  RUNG_TRY(const Value answer, call(run, *row, std::move(arguments)));
  return is_true(answer);
}

}  // namespace rung::jinja
