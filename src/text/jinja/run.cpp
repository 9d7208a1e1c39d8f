// Counts what a rendering takes.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/run.hpp"

#include <algorithm>

#include "text/unicode.hpp"

namespace rung::jinja {
namespace {

// Adds a value to the extent of a container that holds it. Errors: too deep; too many values, which grow twofold with
// each level where a container holds another one twice.
Status add_extent(const Value& value, Extent& sum) {
  const Extent extent = extent_of(value);
  sum.depth = std::max(sum.depth, extent.depth + 1);
  sum.steps += extent.steps;
  if (sum.depth > kMostDepth) return mismatch("got containers nested deeper than {} levels", kMostDepth);
  if (sum.steps > kMostItems) return mismatch("got a container of more than {} values", kMostItems);
  return {};
}

constexpr size_t kBytesOfText = sizeof(Value) + 64;  // of a short text within a container, with what the heap adds

// Returns the items of a value that is no sequence, if it has some.
Result<std::optional<Values>> other_items(Run& run, const Value& value) {
  Values items;
  if (const std::string* text = value.text()) {
    RUNG_CHECK(run.spend_bytes(text::count_characters(*text) * kBytesOfText));
    for (size_t at = 0; at < text->size();) {
      const size_t size = text::bytes_of_character((*text)[at]);
      items.emplace_back(text->substr(at, size));
      at += size;
    }
  } else if (const Dictionary* dictionary = value.dictionary()) {
    for (const Entry& entry : dictionary->of) items.push_back(entry.key);
  } else if (!value.is_undefined()) {
    return std::nullopt;
  }
  return items;
}

}  // namespace

Run::~Run() {
  for (const auto& one : namespaces_) one->fields.clear();
  for (const auto& variables : kept_) variables->of.clear();
  for (const auto& values : kept_values_) values->clear();
}

Status Run::spend_steps(size_t steps) {
  if (steps <= limits_.steps - steps_) {
    steps_ += steps;
    return {};
  }
  return mismatch("got more than {} steps, wanted a template that ends", limits_.steps);
}

Status Run::spend_bytes(size_t bytes) {
  if (bytes <= limits_.bytes - bytes_) {
    bytes_ += bytes;
    return {};
  }
  return mismatch("got values of more than {} bytes, wanted a template that makes fewer", limits_.bytes);
}

Status Run::spend_search(std::string_view text, std::string_view wanted) {
  return spend_steps(1 + text.size() / 64 * (1 + wanted.size() / 64));
}

Result<Value> Run::text(std::string text) {
  RUNG_CHECK(spend_bytes(text.size()));
  return Value(std::move(text));
}

Result<Value> Run::sequence(Values items, Sequence::Kind kind) {
  RUNG_CHECK(spend_bytes(items.size() * sizeof(Value)));
  Extent extent{.depth = 1};
  for (const Value& item : items) RUNG_CHECK(add_extent(item, extent));
  return Value(std::make_shared<const Sequence>(Sequence{.kind = kind, .of = std::move(items), .extent = extent}));
}

// A key is looked for among all that are there.
Result<Value> Run::dictionary(std::vector<Entry> entries) {
  RUNG_CHECK(spend_bytes(entries.size() * sizeof(Entry)));
  Dictionary made{.extent = {.depth = 1}};
  for (Entry& entry : entries) {
    RUNG_CHECK(spend_steps(made.of.size() / 64));
    made.extent.steps += made.of.size() / 64;
    RUNG_CHECK(add_extent(entry.key, made.extent));
    RUNG_CHECK(add_extent(entry.value, made.extent));
    const auto known = std::find_if(made.of.begin(), made.of.end(),
                                    [&](const Entry& other) { return is_equal(other.key, entry.key); });
    if (known == made.of.end())
      made.of.push_back(std::move(entry));
    else
      known->value = std::move(entry.value);
  }
  return Value(std::make_shared<const Dictionary>(std::move(made)));
}

Result<Value> Run::name_space() {
  RUNG_CHECK(spend_bytes(sizeof(Namespace)));
  namespaces_.push_back(std::make_shared<Namespace>());
  return Value(namespaces_.back());
}

Result<bool> Run::equal(const Value& a, const Value& b) {
  RUNG_CHECK(spend_steps(std::min(extent_of(a).steps, extent_of(b).steps)));
  return is_equal(a, b);
}

Result<std::shared_ptr<const Sequence>> Run::items_of(const Value& value) {
  if (const auto* held = std::get_if<std::shared_ptr<const Sequence>>(&value.is)) {
    const Sequence& sequence = **held;
    if (sequence.kind != Sequence::Kind::lazy) return *held;
    const bool is_empty = std::exchange(sequence.was_read, true);
    return is_empty ? std::make_shared<const Sequence>() : *held;
  }
  RUNG_TRY(auto items, other_items(*this, value));
  if (!items) return mismatch("got {}, wanted a value with items", kind_of(value));
  RUNG_TRY(const Value made, sequence(std::move(*items)));
  return std::get<std::shared_ptr<const Sequence>>(made.is);
}

}  // namespace rung::jinja
