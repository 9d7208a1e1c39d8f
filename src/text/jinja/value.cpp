// Kinds, truth and equality of values.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/value.hpp"

#include <algorithm>
#include <array>

namespace rung::jinja {
namespace {

constexpr std::array<const char*, 7> kSequenceKinds{"a list",
                                                    "a tuple",
                                                    "a range",
                                                    "a dictionary's keys",
                                                    "a dictionary's values",
                                                    "a dictionary's items",
                                                    "items without places (make them a list by the filter 'list')"};
constexpr std::array<const char*, std::variant_size_v<Value::Any>> kKinds{
    "none",   "an undefined value", "a boolean",   "an integer", "a float",   "a text",
    "a list", "a dictionary",       "a namespace", "a loop",     "a function"};

bool same_items(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_equal);
}

bool same_sequences(const Sequence& a, const Sequence& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.kind != Sequence::Kind::lazy && same_items(a.of, b.of);
}

bool same_dictionaries(const Dictionary& a, const Dictionary& b) {
  if (&a == &b) return true;
  if (a.of.size() != b.of.size()) return false;
  return std::all_of(a.of.begin(), a.of.end(), [&](const Entry& entry) {
    const Value* other = b.find(entry.key);
    return other && is_equal(entry.value, *other);
  });
}

}  // namespace

const Value* Dictionary::find(const Value& key) const {
  const auto found = std::find_if(of.begin(), of.end(), [&](const Entry& entry) { return is_equal(entry.key, key); });
  return found == of.end() ? nullptr : &found->value;
}

const Value* Dictionary::find_text(std::string_view key) const {
  const auto found = std::find_if(of.begin(), of.end(), [&](const Entry& entry) {
    const std::string* text = entry.key.text();
    return text && *text == key;
  });
  return found == of.end() ? nullptr : &found->value;
}

Value* Namespace::find(std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
  return found == fields.end() ? nullptr : &found->second;
}

std::string kind_of(const Value& value) {
  const Sequence* sequence = value.sequence();
  return sequence ? kSequenceKinds[static_cast<size_t>(sequence->kind)] : kKinds[value.is.index()];
}

bool is_true(const Value& value) {
  if (value.is_none() || value.is_undefined()) return false;
  if (const bool* truth = value.truth()) return *truth;
  if (const int64_t* integer = value.integer()) return *integer != 0;
  if (const double* real = value.real()) return *real != 0;
  if (const std::string* text = value.text()) return !text->empty();
  if (const Sequence* sequence = value.sequence())
    return sequence->kind == Sequence::Kind::lazy || !sequence->of.empty();
  if (const Dictionary* dictionary = value.dictionary()) return !dictionary->of.empty();
  return true;
}

const int64_t* as_integer(const Value& value, int64_t& room) {
  if (const bool* truth = value.truth()) room = *truth ? 1 : 0;
  return value.truth() ? &room : value.integer();
}

const double* as_real(const Value& value, double& room) {
  int64_t integer = 0;
  if (const int64_t* whole = as_integer(value, integer)) {
    room = static_cast<double>(*whole);
    return &room;
  }
  return value.real();
}

bool is_equal(const Value& a, const Value& b) {
  int64_t whole_a = 0, whole_b = 0;
  const int64_t *ia = as_integer(a, whole_a), *ib = as_integer(b, whole_b);
  if (ia && ib) return *ia == *ib;
  double real_a = 0, real_b = 0;
  const double *ra = as_real(a, real_a), *rb = as_real(b, real_b);
  if (ra && rb) return *ra == *rb;
  if (a.is.index() != b.is.index()) return false;
  if (a.text()) return *a.text() == *b.text();
  if (a.sequence()) return same_sequences(*a.sequence(), *b.sequence());
  if (a.dictionary()) return same_dictionaries(*a.dictionary(), *b.dictionary());
  if (a.is_none() || a.is_undefined()) return true;
  return a.name_space() == b.name_space() && a.loop() == b.loop() && a.function() == b.function();
}

Status check_key(const Value& value) {
  const bool is_list = value.sequence() && value.sequence()->kind == Sequence::Kind::list;
  if (is_list || value.dictionary()) return mismatch("got {} as a key, wanted a text or a number", kind_of(value));
  return {};
}

Extent extent_of(const Value& value) {
  if (value.sequence()) return value.sequence()->extent;
  if (value.dictionary()) return value.dictionary()->extent;
  if (value.text()) return {.steps = 1 + value.text()->size() / 64};
  return {.depth = value.loop() ? value.loop()->items->extent.depth + 1 : 0};
}

}  // namespace rung::jinja
