// One rendering of a template: what its limits still allow, and the values that it makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/value.hpp"

namespace rung::jinja {

// A template is a file that others wrote: what it may take is bounded, whatever it does.
struct Limits {
  size_t steps = 5'000'000;          // evaluated expressions, statements and items
  size_t bytes = size_t{512} << 20;  // of all texts and containers that are made, together
  size_t output = size_t{64} << 20;  // bytes of the rendered text
};

inline constexpr int kMostDepth = 200;           // of containers in containers: more than JSON may have
inline constexpr size_t kMostItems = 4'000'000;  // within one container
inline constexpr int kMostLevels = 400;  // of expressions, statements and calls within each other, while rendering
inline constexpr size_t kMostTemplateBytes = size_t{1} << 20;
inline constexpr int kMostNesting = 200;  // of brackets and statements within each other, in the text of a template

class Run {
 public:
  Run(Limits limits, std::optional<std::time_t> now) : limits_(limits), now_(now) {}
  // A macro holds the variables around it, and these may hold the macro: both are let go here.
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Count work; errors say which limit is reached.
  Status spend_steps(size_t steps = 1);
  Status spend_bytes(size_t bytes);
  // Counts a search for a text in a text, which takes longest if many places begin like it.
  Status spend_search(std::string_view text, std::string_view wanted);

  // Each makes a value and counts its bytes.
  Result<Value> text(std::string text);
  Result<Value> sequence(Values items, Sequence::Kind kind = Sequence::Kind::list);
  Result<Value> dictionary(std::vector<Entry> entries);
  Result<Value> name_space();

  // Returns whether two values are equal, and counts what it takes to see that.
  Result<bool> equal(const Value& a, const Value& b);

  // Returns the items over which a loop goes: characters of a text, keys of a dictionary. A lazy sequence is read by
  // this. Errors: a value that has no items.
  Result<std::shared_ptr<const Sequence>> items_of(const Value& value);

  std::time_t now() const { return now_.value_or(std::time(nullptr)); }
  const Limits& limits() const { return limits_; }

  // Variables that a macro may outlive, or hold, until the end of the rendering.
  struct Variables {
    std::shared_ptr<Variables> outer;
    std::vector<std::pair<std::string, Value>> of;
  };
  void keep(std::shared_ptr<Variables> variables) { kept_.push_back(std::move(variables)); }
  // Does the same for what a loop remembers.
  void keep(std::shared_ptr<Values> values) { kept_values_.push_back(std::move(values)); }

 private:
  Limits limits_;
  std::optional<std::time_t> now_;
  size_t steps_ = 0, bytes_ = 0;
  std::vector<std::shared_ptr<Namespace>> namespaces_;
  std::vector<std::shared_ptr<Variables>> kept_;
  std::vector<std::shared_ptr<Values>> kept_values_;
};

}  // namespace rung::jinja
