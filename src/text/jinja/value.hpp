// Values of templates, as the language of the published library has them: Python's, without those that reach outside.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.hpp"

namespace rung::jinja {

class Run;
struct CallArguments;
struct Sequence;
struct Dictionary;
struct Namespace;
struct Loop;
struct Function;

struct None {};

// A name without a value. It prints as nothing and counts as false; whatever else is done with it is an error.
struct Undefined {
  std::shared_ptr<const std::string> why;  // "'tools' is undefined"
};

// Copies of texts and containers share what they hold, which nothing changes. A namespace alone changes.
struct Value {
  using Text = std::shared_ptr<const std::string>;
  template <class T>
  using Shared = std::shared_ptr<T>;
  using Any = std::variant<None, Undefined, bool, int64_t, double, Text, Shared<const Sequence>,
                           Shared<const Dictionary>, Shared<Namespace>, Shared<const Loop>, Shared<const Function>>;

  Value() = default;
  // Any alternative is a value. NOLINTBEGIN(google-explicit-constructor)
  template <class T, class = std::enable_if_t<std::is_constructible_v<Any, T>>>
  Value(T value) : is(std::move(value)) {}
  Value(std::string text) : is(std::make_shared<const std::string>(std::move(text))) {}
  Value(const char* text) = delete;  // it would be a bool
  // NOLINTEND(google-explicit-constructor)
  static Value undefined(std::string why) { return Undefined{std::make_shared<const std::string>(std::move(why))}; }

  bool is_none() const { return std::holds_alternative<None>(is); }
  bool is_undefined() const { return std::holds_alternative<Undefined>(is); }
  // Each returns null for a value of another kind.
  const std::string* text() const { return pointer<Text>(); }
  const Sequence* sequence() const { return pointer<Shared<const Sequence>>(); }
  const Dictionary* dictionary() const { return pointer<Shared<const Dictionary>>(); }
  Namespace* name_space() const { return pointer<Shared<Namespace>>(); }
  const Loop* loop() const { return pointer<Shared<const Loop>>(); }
  const Function* function() const { return pointer<Shared<const Function>>(); }
  const bool* truth() const { return std::get_if<bool>(&is); }
  const int64_t* integer() const { return std::get_if<int64_t>(&is); }
  const double* real() const { return std::get_if<double>(&is); }

  Any is;

 private:
  template <class Pointer>
  typename Pointer::element_type* pointer() const {
    const auto* held = std::get_if<Pointer>(&is);
    return held ? held->get() : nullptr;
  }
};

using Values = std::vector<Value>;

// How deep containers stand within a value, and how many steps it takes to compare it with an equal one.
struct Extent {
  int depth = 0;
  size_t steps = 1;
};

struct Sequence {
  // A lazy one is what the language makes step by step: it has no length and no places, is always true, and gives its
  // items once.
  enum class Kind : uint8_t { list, tuple, range, keys, values, items, lazy };
  Kind kind = Kind::list;
  Values of;
  Extent extent = {};
  mutable bool was_read = false;
};

struct Entry {
  Value key, value;
};

// Keys stand in the order of their first appearance.
struct Dictionary {
  std::vector<Entry> of;
  Extent extent = {};

  const Value* find(const Value& key) const;
  const Value* find_text(std::string_view key) const;
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> fields;

  Value* find(std::string_view name);
};

// The variable `loop` within one pass of a loop.
struct Loop {
  std::shared_ptr<const Sequence> items;
  size_t index = 0;
  int level = 0;                          // of a recursive loop
  std::shared_ptr<const Function> again;  // of a recursive loop: renders it for other items
  std::shared_ptr<Values> last_changed;   // what changed() was asked last in this loop, if it was
};

struct Function {
  std::string name;
  std::function<Result<Value>(Run&, CallArguments)> call;
};

// Returns the kind of a value for messages: "a list", "an integer".
std::string kind_of(const Value& value);

bool is_true(const Value& value);

// Returns whether two values are equal; numbers and booleans are compared as numbers.
bool is_equal(const Value& a, const Value& b);

// Returns a boolean or an integer as an integer, and these or a float as a float.
const int64_t* as_integer(const Value& value, int64_t& room);
const double* as_real(const Value& value, double& room);

Extent extent_of(const Value& value);

// Errors: a value that may be no key: a list or a dictionary.
Status check_key(const Value& value);

}  // namespace rung::jinja
