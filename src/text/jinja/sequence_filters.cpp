// Filters of lists and dictionaries.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/callable.hpp"
#include "text/jinja/characters.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"
#include "text/jinja/subscripts.hpp"

namespace rung::jinja {
namespace {

using Kind = Sequence::Kind;

Result<Value> length(Run&, const Bound& a) {
  const Value& value = a[0];
  const Sequence* sequence = value.sequence();
  if (value.is_undefined()) return Value(int64_t{0});
  if (value.text()) return Value(static_cast<int64_t>(text::count_characters(*value.text())));
  if (value.dictionary()) return Value(static_cast<int64_t>(value.dictionary()->of.size()));
  if (sequence && sequence->kind != Kind::lazy) return Value(static_cast<int64_t>(sequence->of.size()));
  return a.wrong(0, "a text, a list or a dictionary");
}

Result<Value> first(Run& run, const Bound& a) {
  RUNG_TRY(const auto items, run.items_of(a[0]));
  return items->of.empty() ? Value::undefined("an empty sequence has no first item") : items->of.front();
}

Result<Value> last(Run& run, const Bound& a) {
  if (a[0].sequence() && a[0].sequence()->kind == Kind::lazy) return a.wrong(0, "a list");
  RUNG_TRY(const auto items, run.items_of(a[0]));
  return items->of.empty() ? Value::undefined("an empty sequence has no last item") : items->of.back();
}

Result<Value> list(Run& run, const Bound& a) {
  RUNG_TRY(const auto items, run.items_of(a[0]));
  return run.sequence(items->of);
}

Result<Value> reverse(Run& run, const Bound& a) {
  RUNG_TRY(const auto items, run.items_of(a[0]));
  Values reversed(items->of.rbegin(), items->of.rend());
  if (!a[0].text()) return run.sequence(std::move(reversed), Kind::lazy);
  std::string text;
  for (const Value& character : reversed) text += *character.text();
  return run.text(std::move(text));
}

Result<Value> entries(Run& run, const Bound& a) {
  if (a[0].is_undefined()) return run.sequence({}, Kind::lazy);
  if (!a[0].dictionary()) return a.wrong(0, "a dictionary");
  Values pairs;
  for (const Entry& entry : a[0].dictionary()->of) {
    RUNG_TRY(Value pair, run.sequence({entry.key, entry.value}, Kind::tuple));
    pairs.push_back(std::move(pair));
  }
  return run.sequence(std::move(pairs), Kind::lazy);
}

// Returns what filters compare: an attribute, if one is named, and texts in lower case unless case counts.
Result<Value> key_of(Run& run, const Value& item, const Value& attribute, bool keeps_case) {
  Value key = item;
  if (!attribute.is_none()) {
    RUNG_TRY(key, item_at_path(run, item, attribute));
  }
  if (keeps_case || !key.text()) return key;
  return run.text(lower(*key.text()));
}

// Returns the items with their keys.
Result<std::vector<Keyed>> keyed(Run& run, const Value& value, const Value& attribute, bool keeps_case) {
  RUNG_TRY(const auto items, run.items_of(value));
  std::vector<Keyed> out;
  for (const Value& item : items->of) {
    RUNG_TRY(Value key, key_of(run, item, attribute, keeps_case));
    out.push_back({std::move(key), item});
  }
  return out;
}

// Returns the keys of an item by several attributes, with commas between their names.
Result<Value> keys_of(Run& run, const Value& item, const Value& attributes, bool keeps_case) {
  Values keys;
  std::string_view rest = attributes.text() ? std::string_view(*attributes.text()) : std::string_view();
  for (;;) {
    const std::string_view name = rest.substr(0, rest.find(','));
    const Value attribute = attributes.text() ? Value(std::string(name)) : attributes;
    RUNG_TRY(Value key, key_of(run, item, attribute, keeps_case));
    keys.push_back(std::move(key));
    if (name.size() == rest.size()) return run.sequence(std::move(keys));
    rest.remove_prefix(name.size() + 1);
  }
}

Values items_in(std::vector<Keyed> keyed) {
  Values items;
  for (Keyed& one : keyed) items.push_back(std::move(one.item));
  return items;
}

Result<Value> sort(Run& run, const Bound& a) {
  RUNG_TRY(std::vector<Keyed> items, keyed(run, a[0], None{}, /*keeps_case=*/true));
  for (Keyed& one : items) {
    RUNG_TRY(one.key, keys_of(run, one.item, a[3], a.truth_or(2, false)));
  }
  RUNG_CHECK(sort_by_key(run, items, a.truth_or(1, false)));
  return run.sequence(items_in(std::move(items)));
}

Result<Value> sort_dictionary(Run& run, const Bound& a) {
  if (!a[0].dictionary()) return a.wrong(0, "a dictionary");
  RUNG_TRY(const std::string by, a.text_or(2, "key"));
  if (by != "key" && by != "value") return a.wrong(2, "'key' or 'value'");
  std::vector<Keyed> items;
  for (const Entry& entry : a[0].dictionary()->of) {
    Keyed one;
    RUNG_TRY(one.key, key_of(run, by == "key" ? entry.key : entry.value, None{}, a.truth_or(1, false)));
    RUNG_TRY(one.item, run.sequence({entry.key, entry.value}, Kind::tuple));
    items.push_back(std::move(one));
  }
  RUNG_CHECK(sort_by_key(run, items, a.truth_or(3, false)));
  return run.sequence(items_in(std::move(items)));
}

Result<Value> unique(Run& run, const Bound& a) {
  RUNG_TRY(const std::vector<Keyed> items, keyed(run, a[0], a[2], a.truth_or(1, false)));
  Values kept, seen;
  for (const Keyed& one : items) {
    RUNG_CHECK(check_key(one.key));
    bool is_known = false;
    for (size_t i = 0; i < seen.size() && !is_known; ++i) {
      RUNG_TRY(is_known, run.equal(seen[i], one.key));
    }
    if (is_known) continue;
    seen.push_back(one.key);
    kept.push_back(one.item);
  }
  return run.sequence(std::move(kept), Kind::lazy);
}

template <bool largest>
Result<Value> extreme(Run& run, const Bound& a) {
  RUNG_TRY(const std::vector<Keyed> items, keyed(run, a[0], a[2], a.truth_or(1, false)));
  if (items.empty()) return Value::undefined("an empty sequence has no smallest and no largest item");
  const Keyed* best = &items[0];
  for (const Keyed& one : items) {
    RUNG_TRY(const bool is_better, largest ? is_less(run, best->key, one.key) : is_less(run, one.key, best->key));
    if (is_better) best = &one;
  }
  return best->item;
}

Result<Value> sum(Run& run, const Bound& a) {
  RUNG_TRY(const std::vector<Keyed> items, keyed(run, a[0], a[1], /*keeps_case=*/true));
  Value total = a.has(2) ? a[2] : Value(int64_t{0});
  for (const Keyed& one : items) {
    RUNG_TRY(total, compute(run, Operator::add, total, one.key));
  }
  return total;
}

Result<Value> join_items(Run& run, const Bound& a) {
  RUNG_TRY(const std::vector<Keyed> items, keyed(run, a[0], a[2], /*keeps_case=*/true));
  std::string separator, out;
  if (a.has(1)) {
    RUNG_TRY(separator, text_of(run, a[1]));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator;
    RUNG_CHECK(run.spend_bytes(separator.size()));
    RUNG_TRY(const std::string text, text_of(run, items[i].key));
    out += text;
  }
  return Value(std::move(out));
}

// Returns the arguments of a filter or a test that is called for an item: those behind its name.
CallArguments arguments_for(const Value& item, const CallArguments& given, size_t behind) {
  CallArguments arguments{.positional = {item}, .named = given.named};
  const auto begin = given.positional.begin() + static_cast<std::ptrdiff_t>(std::min(behind, given.positional.size()));
  arguments.positional.insert(arguments.positional.end(), begin, given.positional.end());
  return arguments;
}

Result<Value> map_attribute(Run& run, const Value& items, const CallArguments& given) {
  Value attribute, otherwise;
  bool has_default = false;
  if (given.named.empty()) return mismatch("'map': got no argument, wanted a filter's name or an attribute");
  for (const auto& [name, value] : given.named) {
    if (name == "attribute")
      attribute = value;
    else if (name == "default")
      otherwise = value;
    else
      return mismatch("'map': got the argument '{}', wanted 'attribute' and 'default'", name);
    has_default |= name == "default" && !value.is_none();
  }
  RUNG_TRY(const std::vector<Keyed> found, keyed(run, items, attribute, /*keeps_case=*/true));
  Values mapped;
  for (const Keyed& one : found) mapped.push_back(one.key.is_undefined() && has_default ? otherwise : one.key);
  return run.sequence(std::move(mapped), Kind::lazy);
}

Result<Value> map(Run& run, const Bound& a) {
  const CallArguments& given = a.further();
  if (!is_true(a[0])) return run.sequence({}, Kind::lazy);
  if (given.positional.empty()) return map_attribute(run, a[0], given);
  const std::string* filter = given.positional[0].text();
  if (!filter) return mismatch("'map': got {}, wanted a filter's name", kind_of(given.positional[0]));
  RUNG_TRY(const auto items, run.items_of(a[0]));
  Values mapped;
  for (const Value& item : items->of) {
    RUNG_TRY(Value one, call_filter(run, *filter, arguments_for(item, given, 1)));
    mapped.push_back(std::move(one));
  }
  return run.sequence(std::move(mapped), Kind::lazy);
}

// Keeps the items of which a test, or else their truth, is `wanted`; of an attribute, if the first argument names one.
template <bool wanted, bool by_attribute>
Result<Value> select(Run& run, const Bound& a) {
  const CallArguments& given = a.further();
  if (!is_true(a[0])) return run.sequence({}, Kind::lazy);
  constexpr size_t place = by_attribute ? 1 : 0;
  if (given.positional.size() < place) return mismatch("got no attribute to select by");
  const Value* test = given.positional.size() > place ? &given.positional[place] : nullptr;
  if (test && !test->text()) return mismatch("got {} to select by, wanted a test's name", kind_of(*test));
  RUNG_TRY(const auto items, run.items_of(a[0]));
  Values kept;
  for (const Value& item : items->of) {
    RUNG_CHECK(run.spend_steps());
    Value subject = item;
    if (by_attribute) {
      RUNG_TRY(subject, item_at_path(run, item, given.positional[0]));
    }
    bool holds = is_true(subject);
    if (test) {
      RUNG_TRY(holds, call_test(run, *test->text(), arguments_for(subject, given, place + 1)));
    }
    if (holds == wanted) kept.push_back(item);
  }
  return run.sequence(std::move(kept), Kind::lazy);
}

Result<Value> group_by(Run& run, const Bound& a) {
  RUNG_TRY(std::vector<Keyed> items, keyed(run, a[0], a[1], a.truth_or(3, false)));
  for (Keyed& one : items)
    if (one.key.is_undefined() && a.has(2)) one.key = a[2];
  RUNG_CHECK(sort_by_key(run, items, /*reverses=*/false));
  Values groups;
  for (size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    Values members;
    for (bool same = true; same; ++end) {
      members.push_back(items[end].item);
      same = end + 1 < items.size();
      if (same) {
        RUNG_TRY(same, run.equal(items[end + 1].key, items[begin].key));
      }
    }
    RUNG_TRY(Value key, key_of(run, members[0], a[1], /*keeps_case=*/true));
    if (key.is_undefined() && a.has(2)) key = a[2];
    RUNG_TRY(Value list, run.sequence(std::move(members)));
    RUNG_TRY(Value group, run.sequence({std::move(key), std::move(list)}, Kind::tuple));
    groups.push_back(std::move(group));
  }
  return run.sequence(std::move(groups));
}

Result<Value> batch(Run& run, const Bound& a) {
  RUNG_TRY(const int64_t count, a.integer(1));
  if (count < 1) return a.wrong(1, "at least 1");
  RUNG_TRY(const auto items, run.items_of(a[0]));
  Values rows;
  for (size_t begin = 0; begin < items->of.size(); begin += static_cast<size_t>(count)) {
    const size_t end = begin + std::min(static_cast<size_t>(count), items->of.size() - begin);
    Values row(items->of.begin() + static_cast<std::ptrdiff_t>(begin),
               items->of.begin() + static_cast<std::ptrdiff_t>(end));
    RUNG_CHECK(run.spend_steps(a.has(2) ? static_cast<size_t>(count) : row.size()));
    if (a.has(2)) row.resize(static_cast<size_t>(count), a[2]);
    RUNG_TRY(Value made, run.sequence(std::move(row)));
    rows.push_back(std::move(made));
  }
  return run.sequence(std::move(rows), Kind::lazy);
}

// Divides items into columns of nearly the same length; the shorter ones come last, and are filled up on demand.
Result<Value> slice(Run& run, const Bound& a) {
  RUNG_TRY(const int64_t count, a.integer(1));
  if (count < 1) return a.wrong(1, "at least 1");
  RUNG_TRY(const auto items, run.items_of(a[0]));
  const auto columns = static_cast<size_t>(count);
  RUNG_CHECK(run.spend_steps(columns));
  Values made;
  auto at = items->of.begin();
  for (size_t i = 0; i < columns; ++i) {
    const bool is_longer = i < items->of.size() % columns;
    const auto end = at + static_cast<std::ptrdiff_t>(items->of.size() / columns + (is_longer ? 1 : 0));
    Values column(at, end);
    at = end;
    if (a.has(2) && !is_longer) column.push_back(a[2]);
    RUNG_TRY(Value one, run.sequence(std::move(column)));
    made.push_back(std::move(one));
  }
  return run.sequence(std::move(made), Kind::lazy);
}

constexpr Callable kFilters[] = {
    {"batch", "value linecount fill_with?", batch},
    {"count", "value", length},
    {"dictsort", "value case_sensitive? by? reverse?", sort_dictionary},
    {"first", "value", first},
    {"groupby", "value attribute default? case_sensitive?", group_by},
    {"items", "value", entries},
    {"join", "value d? attribute?", join_items},
    {"last", "value", last},
    {"length", "value", length},
    {"list", "value", list},
    {"map", "value * **", map},
    {"max", "value case_sensitive? attribute?", extreme<true>},
    {"min", "value case_sensitive? attribute?", extreme<false>},
    {"reject", "value * **", select<false, false>},
    {"rejectattr", "value * **", select<false, true>},
    {"reverse", "value", reverse},
    {"select", "value * **", select<true, false>},
    {"selectattr", "value * **", select<true, true>},
    {"slice", "value slices fill_with?", slice},
    {"sort", "value reverse? case_sensitive? attribute?", sort},
    {"sum", "value attribute? start?", sum},
    {"unique", "value case_sensitive? attribute?", unique},
};

}  // namespace

Callables filters_of_sequences() { return kFilters; }

}  // namespace rung::jinja
