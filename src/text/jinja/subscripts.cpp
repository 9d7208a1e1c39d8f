// Looks attributes, items and slices up.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/subscripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "text/jinja/callable.hpp"
#include "text/jinja/characters.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"
#include "text/jinja/text_work.hpp"

namespace rung::jinja {
namespace {

// Methods that change a list or a dictionary: the language of templates has their names, and keeps them from use.
constexpr std::array<std::string_view, 12> kChanging{"append",     "clear",   "extend", "insert",
                                                     "pop",        "popitem", "remove", "reverse",
                                                     "setdefault", "sort",    "update", "__setitem__"};

Callables methods_of(const Value& value) {
  if (value.text()) return methods_of_texts();
  if (value.dictionary()) return methods_of_dictionaries();
  if (value.loop()) return methods_of_loops();
  const Sequence* sequence = value.sequence();
  const bool has_methods =
      sequence && (sequence->kind == Sequence::Kind::list || sequence->kind == Sequence::Kind::tuple);
  return has_methods ? methods_of_sequences() : Callables();
}

Value loop_field(const Loop& loop, std::string_view name) {
  const auto count = static_cast<int64_t>(loop.items->of.size()), index = static_cast<int64_t>(loop.index);
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return count - index;
  if (name == "revindex0") return count - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == count;
  if (name == "length") return count;
  if (name == "depth") return int64_t{loop.level} + 1;
  if (name == "depth0") return int64_t{loop.level};
  if (name == "previtem")
    return index > 0 ? loop.items->of[loop.index - 1] : Value::undefined("there is no previous item");
  if (name == "nextitem")
    return index + 1 < count ? loop.items->of[loop.index + 1] : Value::undefined("there is no next item");
  return Value::undefined(fmt::format("'loop' has no '{}'", name));
}

// Returns an attribute that is no item, if there is one.
std::optional<Value> own_attribute(const Value& value, std::string_view name) {
  if (Namespace* fields = value.name_space()) {
    const Value* field = fields->find(name);
    return field ? std::optional(*field) : std::nullopt;
  }
  if (const Callable* method = find(methods_of(value), name)) return function_of(*method, value);
  if (value.loop()) return loop_field(*value.loop(), name);
  const bool changes = (value.dictionary() || value.sequence()) &&
                       std::find(kChanging.begin(), kChanging.end(), name) != kChanging.end();
  if (changes)
    return Value::undefined(fmt::format("'{}' would change {}, which templates may not", name, kind_of(value)));
  return std::nullopt;
}

// Returns the place that a number means in a sequence; none if there is no such place.
std::optional<size_t> place_of(int64_t index, size_t size) {
  if (index < 0) index += static_cast<int64_t>(size);
  return index >= 0 && index < static_cast<int64_t>(size) ? std::optional(static_cast<size_t>(index)) : std::nullopt;
}

bool has_places(const Value& value) {
  const Sequence* sequence = value.sequence();
  return sequence && sequence->kind <= Sequence::Kind::range;
}

Result<std::optional<Value>> own_item(Run& run, const Value& value, const Value& key) {
  if (const Dictionary* dictionary = value.dictionary()) {
    RUNG_CHECK(run.spend_steps(1 + dictionary->of.size() / 64));
    const Value* found = key.text() ? dictionary->find_text(*key.text()) : dictionary->find(key);
    return found ? std::optional(*found) : std::nullopt;
  }
  int64_t room = 0;
  const int64_t* index = as_integer(key, room);
  if (!index) return std::optional<Value>();
  if (has_places(value)) {
    const auto place = place_of(*index, value.sequence()->of.size());
    return place ? std::optional(value.sequence()->of[*place]) : std::nullopt;
  }
  if (const std::string* text = value.text()) {
    RUNG_CHECK(run.spend_steps(1 + text->size() / 64));
    const auto place = place_of(*index, text::count_characters(*text));
    if (!place) return std::optional<Value>();
    const size_t at = byte_of_place(*text, *place);
    return std::optional(Value(text->substr(at, text::bytes_of_character((*text)[at]))));
  }
  return std::optional<Value>();
}

Result<std::string> missing(Run& run, const Value& value, const Value& key) {
  const bool is_short = extent_of(key).steps < 10;
  RUNG_TRY(const std::string name, is_short ? written(run, key) : Result<std::string>(kind_of(key)));
  return fmt::format("{} has no {}", kind_of(value), name);
}

// Returns the places of a slice in their order, as the language counts them.
Result<std::vector<size_t>> places_of(Run& run, const Bounds& bounds, size_t size) {
  const int64_t step = bounds.step.value_or(1), count = static_cast<int64_t>(size);
  if (step == 0) return mismatch("got a slice with the step 0");
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? count : count - 1;
  const auto within = [&](std::optional<int64_t> bound, int64_t otherwise) {
    if (!bound) return otherwise;
    return std::clamp(*bound < 0 ? *bound + count : *bound, lowest, highest);
  };
  const int64_t begin = within(bounds.begin, step > 0 ? lowest : highest);
  const int64_t end = within(bounds.end, step > 0 ? highest : lowest);
  std::vector<size_t> places;
  for (int64_t at = begin; step > 0 ? at < end : at > end;) {
    places.push_back(static_cast<size_t>(at));
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  RUNG_CHECK(run.spend_steps(1 + places.size() / 16));
  return places;
}

Result<Value> slice_of_text(Run& run, const std::string& text, const Bounds& bounds) {
  if (bounds.step.value_or(1) == 1) {
    constexpr int64_t all = std::numeric_limits<int64_t>::max();
    return run.text(std::string(part_of(text, bounds.begin.value_or(0), bounds.end.value_or(all))));
  }
  RUNG_CHECK(run.spend_bytes(text.size() * sizeof(size_t)));
  std::vector<size_t> begins;
  for (size_t at = 0; at < text.size(); at += text::bytes_of_character(text[at])) begins.push_back(at);
  RUNG_CHECK(run.spend_steps(1 + begins.size() / 16));
  RUNG_TRY(const std::vector<size_t> places, places_of(run, bounds, begins.size()));
  std::string out;
  for (const size_t place : places) out += text.substr(begins[place], text::bytes_of_character(text[begins[place]]));
  return run.text(std::move(out));
}

}  // namespace

Result<Value> attribute_of(Run& run, const Value& value, std::string_view name) {
  RUNG_CHECK(check_defined(value));
  if (auto attribute = own_attribute(value, name)) return std::move(*attribute);
  if (const Dictionary* dictionary = value.dictionary()) {
    RUNG_CHECK(run.spend_steps(1 + dictionary->of.size() / 64));
    if (const Value* found = dictionary->find_text(name)) return *found;
  }
  return Value::undefined(fmt::format("{} has no '{}'", kind_of(value), name));
}

Result<Value> item_of(Run& run, const Value& value, const Value& key) {
  RUNG_CHECK(check_defined(value));
  RUNG_TRY(std::optional<Value> item, own_item(run, value, key));
  if (item) return std::move(*item);
  if (key.text()) {
    if (auto attribute = own_attribute(value, *key.text())) return std::move(*attribute);
  }
  RUNG_TRY(std::string why, missing(run, value, key));
  return Value::undefined(std::move(why));
}

Result<Value> item_at_path(Run& run, const Value& value, const Value& path) {
  if (!path.text()) return item_of(run, value, path);
  Value at = value;
  std::string_view rest = *path.text();
  for (;;) {
    const std::string_view name = rest.substr(0, rest.find('.'));
    int64_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index = !name.empty() && error == std::errc() && end == name.data() + name.size() && index >= 0;
    RUNG_TRY(at, item_of(run, at, is_index ? Value(index) : Value(std::string(name))));
    if (name.size() == rest.size()) return at;
    rest.remove_prefix(name.size() + 1);
  }
}

Result<Value> slice_of(Run& run, const Value& value, const Bounds& bounds) {
  RUNG_CHECK(check_defined(value));
  if (value.text()) return slice_of_text(run, *value.text(), bounds);
  if (!has_places(value)) return mismatch("got {} to slice, wanted a list or a text", kind_of(value));
  const Sequence& sequence = *value.sequence();
  RUNG_TRY(const std::vector<size_t> places, places_of(run, bounds, sequence.of.size()));
  Values items;
  for (const size_t place : places) items.push_back(sequence.of[place]);
  return run.sequence(std::move(items), sequence.kind);
}

}  // namespace rung::jinja
