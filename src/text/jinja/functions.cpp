// Functions that every template may call.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <ctime>

#include "text/jinja/callable.hpp"

namespace rung::jinja {
namespace {

constexpr int64_t kMostInRange = 100'000;  // as the language's safe form has it

Result<Value> range(Run& run, const Bound& a) {
  RUNG_TRY(int64_t begin, a.integer(0));
  RUNG_TRY(int64_t end, a.integer_or(1, 0));
  RUNG_TRY(const int64_t step, a.integer_or(2, 1));
  if (!a.has(1)) end = std::exchange(begin, 0);
  if (step == 0) return a.wrong(2, "a step other than 0");
  Values items;
  for (int64_t at = begin; step > 0 ? at < end : at > end;) {
    if (static_cast<int64_t>(items.size()) == kMostInRange)
      return mismatch("'range': got more than {} numbers", kMostInRange);
    items.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return run.sequence(std::move(items), Sequence::Kind::range);
}

// Returns the entries of a dictionary, or of a list of pairs, and of the names of a call.
Result<std::vector<Entry>> entries_of(Run& run, const Bound& a) {
  std::vector<Entry> entries;
  if (a.has(0) && a[0].dictionary()) {
    entries = a[0].dictionary()->of;
  } else if (a.has(0)) {
    RUNG_TRY(const auto pairs, run.items_of(a[0]));
    for (const Value& pair : pairs->of) {
      RUNG_TRY(const auto parts, run.items_of(pair));
      if (parts->of.size() != 2) return a.wrong(0, "a dictionary, or pairs of keys and values");
      entries.push_back({parts->of[0], parts->of[1]});
    }
  }
  for (const auto& [name, value] : a.further().named) entries.push_back({Value(name), value});
  return entries;
}

Result<Value> dict(Run& run, const Bound& a) {
  RUNG_TRY(std::vector<Entry> entries, entries_of(run, a));
  return run.dictionary(std::move(entries));
}

Result<Value> name_space(Run& run, const Bound& a) {
  RUNG_TRY(std::vector<Entry> entries, entries_of(run, a));
  RUNG_TRY(Value made, run.name_space());
  RUNG_CHECK(run.spend_bytes(entries.size() * sizeof(Entry)));
  for (Entry& entry : entries) {
    const std::string* name = entry.key.text();
    if (!name || name->starts_with('_'))
      return mismatch("'namespace': got {}, wanted a field's name that begins with a letter",
                      name ? "'" + *name + "'" : kind_of(entry.key));
    RUNG_CHECK(run.spend_steps());
    if (Value* known = made.name_space()->find(*name))
      *known = std::move(entry.value);
    else
      made.name_space()->fields.emplace_back(*name, std::move(entry.value));
  }
  return made;
}

Result<Value> raise_exception(Run&, const Bound& a) {
  const std::string* text = a[0].text();
  return mismatch("the template refuses this chat: {}", text ? *text : kind_of(a[0]));
}

Result<Value> strftime_now(Run& run, const Bound& a) {
  RUNG_TRY(const std::string format, a.text(0));
  const std::time_t now = run.now();
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 1024> buffer{};
  const size_t size = std::strftime(buffer.data(), buffer.size(), format.c_str(), &parts);
  if (size == 0 && !format.empty()) return a.wrong(0, "a format of a short date");
  return run.text(std::string(buffer.data(), size));
}

constexpr Callable kFunctions[] = {
    {"dict", "mapping? **", dict},
    {"namespace", "mapping? **", name_space},
    {"raise_exception", "message", raise_exception},
    {"range", "start stop? step?", range},
    {"strftime_now", "format", strftime_now},
};

}  // namespace

Callables functions() { return kFunctions; }

}  // namespace rung::jinja
