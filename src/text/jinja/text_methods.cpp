// Methods of texts.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "text/jinja/callable.hpp"
#include "text/jinja/characters.hpp"
#include "text/jinja/text_work.hpp"

namespace rung::jinja {
namespace {

// Methods are called with a text as their first argument.
const std::string& self_of(const Bound& a) { return *a[0].text(); }

template <std::string (*change)(std::string_view)>
Result<Value> changed(Run& run, const Bound& a) {
  return run.text(change(self_of(a)));
}

template <bool (*holds)(CodePoint)>
Result<Value> holds_for_all(Run& run, const Bound& a) {
  const std::string& text = self_of(a);
  RUNG_CHECK(run.spend_steps(1 + text.size() / 16));
  for (size_t at = 0; at < text.size();)
    if (!holds(text::next_character(text, at))) return Value(false);
  return Value(!text.empty());
}

bool is_letter_or_number(CodePoint c) { return is_letter(c) || is_decimal(c) || is_numeric(c); }

template <Ends ends>
Result<Value> strip(Run& run, const Bound& a) {
  std::optional<std::string> characters;
  if (a.has(1)) {
    RUNG_TRY(characters, a.text(1));
  }
  return run.text(std::string(stripped(self_of(a), characters, ends)));
}

template <bool ends>
Result<Value> has_affix(Run& run, const Bound& a) {
  Values affixes{a[1]};
  if (a[1].sequence() && a[1].sequence()->kind == Sequence::Kind::tuple) affixes = a[1].sequence()->of;
  RUNG_CHECK(run.spend_steps(affixes.size()));
  RUNG_TRY(const int64_t begin, a.integer_or(2, 0));
  RUNG_TRY(const int64_t end, a.integer_or(3, std::numeric_limits<int64_t>::max()));
  const bool is_whole = !a.has(2) && !a.has(3);
  if (!is_whole) RUNG_CHECK(run.spend_steps(1 + self_of(a).size() / 64));
  const std::string_view text = is_whole ? std::string_view(self_of(a)) : part_of(self_of(a), begin, end);
  for (const Value& affix : affixes) {
    if (!affix.text()) return a.wrong(1, "a text or a tuple of texts");
    if (ends ? text.ends_with(*affix.text()) : text.starts_with(*affix.text())) return Value(true);
  }
  return Value(false);
}

Result<Value> list_of(Run& run, const std::vector<std::string_view>& parts) {
  Values items;
  for (const std::string_view part : parts) items.emplace_back(std::string(part));
  return run.sequence(std::move(items));
}

template <bool from_right>
Result<Value> split(Run& run, const Bound& a) {
  RUNG_TRY(const int64_t most, a.integer_or(2, -1));
  std::optional<std::string> separator;
  if (a.has(1)) {
    RUNG_TRY(separator, a.text(1));
    if (separator->empty()) return a.wrong(1, "a text that is not empty");
  }
  RUNG_TRY(const auto parts, split_text(run, self_of(a), separator, {.most = most, .from_right = from_right}));
  return list_of(run, parts);
}

Result<Value> split_lines(Run& run, const Bound& a) {
  RUNG_TRY(const auto lines, lines_of(run, self_of(a), a.truth_or(1, false)));
  return list_of(run, lines);
}

template <bool from_right>
Result<Value> partition(Run& run, const Bound& a) {
  const std::string& text = self_of(a);
  RUNG_TRY(const std::string separator, a.text(1));
  if (separator.empty()) return a.wrong(1, "a text that is not empty");
  RUNG_CHECK(run.spend_search(text, separator));
  const size_t at = from_right ? text.rfind(separator) : text.find(separator);
  Values parts{Value(std::string()), Value(std::string()), Value(std::string())};
  if (at == text.npos)
    parts[from_right ? 2 : 0] = Value(text);
  else
    parts = {Value(text.substr(0, at)), Value(separator), Value(text.substr(at + separator.size()))};
  RUNG_CHECK(run.spend_bytes(text.size()));
  return run.sequence(std::move(parts), Sequence::Kind::tuple);
}

Result<Value> replace(Run& run, const Bound& a) {
  RUNG_TRY(const std::string from, a.text(1));
  RUNG_TRY(const std::string to, a.text(2));
  RUNG_TRY(const int64_t most, a.integer_or(3, -1));
  RUNG_TRY(std::string text, replaced(run, self_of(a), {from, to}, most));
  return Value(std::move(text));
}

// Returns the character where a text stands first or last, or -1.
template <bool from_right>
Result<Value> find_text(Run& run, const Bound& a) {
  RUNG_TRY(const std::string wanted, a.text(1));
  RUNG_TRY(const int64_t begin, a.integer_or(2, 0));
  RUNG_TRY(const int64_t end, a.integer_or(3, std::numeric_limits<int64_t>::max()));
  const std::string& text = self_of(a);
  RUNG_CHECK(run.spend_search(text, wanted));
  const std::string_view part = part_of(text, begin, end);
  const size_t at = from_right ? part.rfind(wanted) : part.find(wanted);
  if (at == part.npos) return Value(int64_t{-1});
  const auto skipped = static_cast<size_t>(part.data() - text.data());
  return Value(static_cast<int64_t>(text::count_characters(std::string_view(text).substr(0, skipped + at))));
}

Result<Value> index(Run& run, const Bound& a) {
  RUNG_TRY(const Value place, find_text<false>(run, a));
  if (*place.integer() < 0) return a.wrong(1, "a text that stands in it");
  return place;
}

Result<Value> count(Run& run, const Bound& a) {
  RUNG_TRY(const std::string wanted, a.text(1));
  RUNG_CHECK(run.spend_search(self_of(a), wanted));
  return Value(count_text(self_of(a), wanted));
}

Result<Value> join(Run& run, const Bound& a) {
  RUNG_TRY(const auto items, run.items_of(a[1]));
  std::string out;
  for (size_t i = 0; i < items->of.size(); ++i) {
    const std::string* item = items->of[i].text();
    if (!item) return a.wrong(1, "texts");
    RUNG_CHECK(run.spend_bytes(item->size() + self_of(a).size()));
    if (i > 0) out += self_of(a);
    out += *item;
  }
  return Value(std::move(out));
}

template <bool at_end>
Result<Value> remove_affix(Run& run, const Bound& a) {
  RUNG_TRY(const std::string affix, a.text(1));
  std::string_view text = self_of(a);
  if (!at_end && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (at_end && text.ends_with(affix)) text.remove_suffix(affix.size());
  return run.text(std::string(text));
}

template <Alignment alignment>
Result<Value> align(Run& run, const Bound& a) {
  RUNG_TRY(const int64_t width, a.integer(1));
  RUNG_TRY(const std::string fill, a.text_or(2, " "));
  if (text::count_characters(fill) != 1) return a.wrong(2, "one character");
  RUNG_TRY(std::string text, aligned(run, self_of(a), {width, fill, alignment}));
  return Value(std::move(text));
}

Result<Value> fill_with_zeros(Run& run, const Bound& a) {
  RUNG_TRY(const int64_t width, a.integer(1));
  const std::string& text = self_of(a);
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  RUNG_TRY(const std::string digits,
           aligned(run, text.substr(sign), {width - static_cast<int64_t>(sign), "0", Alignment::right}));
  return run.text(text.substr(0, sign) + digits);
}

Result<Value> is_lower_text(Run& run, const Bound& a) { return all_cased(run, self_of(a), is_lower); }
Result<Value> is_upper_text(Run& run, const Bound& a) { return all_cased(run, self_of(a), is_upper); }

Result<Value> format(Run& run, const Bound& a) {
  RUNG_TRY(std::string text, filled_in(run, self_of(a), a.further()));
  return run.text(std::move(text));
}

constexpr Callable kMethods[] = {
    {"strip", "self chars?", strip<Ends::both>},
    {"lstrip", "self chars?", strip<Ends::left>},
    {"rstrip", "self chars?", strip<Ends::right>},
    {"startswith", "self prefix start? end?", has_affix<false>},
    {"endswith", "self suffix start? end?", has_affix<true>},
    {"split", "self sep? maxsplit?", split<false>},
    {"rsplit", "self sep? maxsplit?", split<true>},
    {"splitlines", "self keepends?", split_lines},
    {"partition", "self sep", partition<false>},
    {"rpartition", "self sep", partition<true>},
    {"replace", "self old new count?", replace},
    {"find", "self sub start? end?", find_text<false>},
    {"rfind", "self sub start? end?", find_text<true>},
    {"index", "self sub start? end?", index},
    {"count", "self sub", count},
    {"join", "self iterable", join},
    {"upper", "self", changed<upper>},
    {"lower", "self", changed<lower>},
    {"casefold", "self", changed<lower>},
    {"capitalize", "self", changed<capitalized>},
    {"title", "self", changed<titled_words>},
    {"swapcase", "self", changed<swapped_case>},
    {"removeprefix", "self prefix", remove_affix<false>},
    {"removesuffix", "self suffix", remove_affix<true>},
    {"ljust", "self width fillchar?", align<Alignment::left>},
    {"rjust", "self width fillchar?", align<Alignment::right>},
    {"center", "self width fillchar?", align<Alignment::center>},
    {"zfill", "self width", fill_with_zeros},
    {"format", "self * **", format},
    {"isspace", "self", holds_for_all<is_blank>},
    {"isalpha", "self", holds_for_all<is_letter>},
    {"isdigit", "self", holds_for_all<is_decimal>},
    {"isdecimal", "self", holds_for_all<is_decimal>},
    {"isnumeric", "self", holds_for_all<is_numeric>},
    {"isalnum", "self", holds_for_all<is_letter_or_number>},
    {"islower", "self", is_lower_text},
    {"isupper", "self", is_upper_text},
};

}  // namespace

Callables methods_of_texts() { return kMethods; }

}  // namespace rung::jinja
