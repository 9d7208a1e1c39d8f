// Filters of texts and numbers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/jinja/callable.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"
#include "text/jinja/subscripts.hpp"
#include "text/jinja/text_work.hpp"

namespace rung::jinja {
namespace {

template <std::string (*change)(std::string_view)>
Result<Value> change_text(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, text_of(run, a[0]));
  return run.text(change(text));
}

// Begins words behind blanks, hyphens and opening brackets, and not behind apostrophes as the method does.
std::string titled(std::string_view text) {
  std::string out;
  bool begins = true;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const CodePoint c = text::next_character(text, at);
    const std::string_view character = text.substr(begin, at - begin);
    const bool separates =
        is_blank(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != text.npos);
    out += begins ? upper(character) : lower(character);
    begins = separates;
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string same_text(std::string_view text) { return std::string(text); }

Result<Value> trim(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, text_of(run, a[0]));
  std::optional<std::string> characters;
  if (a.has(1)) {
    RUNG_TRY(characters, a.text(1));
  }
  return run.text(std::string(stripped(text, characters, Ends::both)));
}

Result<Value> replace_text(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, text_of(run, a[0]));
  RUNG_TRY(const std::string from, text_of(run, a[1]));
  RUNG_TRY(const std::string to, text_of(run, a[2]));
  RUNG_TRY(const int64_t most, a.integer_or(3, -1));
  RUNG_TRY(std::string out, replaced(run, text, {from, to}, most));
  return Value(std::move(out));
}

// The first line, and lines without text, are indented on demand alone.
Result<Value> indent(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, a.text(0));
  std::string indent;
  if (a[1].text()) {
    indent = *a[1].text();
  } else {
    RUNG_TRY(const int64_t width, a.integer_or(1, 4));
    RUNG_TRY(indent, aligned(run, "", {width, " ", Alignment::left}));
  }
  std::string out;
  bool is_first = true;
  const std::string closed = text + '\n';
  RUNG_TRY(const auto lines, lines_of(run, closed, false));
  for (const std::string_view line : lines) {
    const bool indents = is_first ? a.truth_or(2, false) : !line.empty() || a.truth_or(3, false);
    RUNG_CHECK(run.spend_bytes(line.size() + (indents ? indent.size() : 0) + 1));
    if (!is_first) out += '\n';
    if (indents) out += indent;
    out += line;
    is_first = false;
  }
  return Value(std::move(out));
}

Result<Value> truncate(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, a.text(0));
  RUNG_TRY(const int64_t length, a.integer_or(1, 255));
  RUNG_TRY(const std::string end, a.text_or(3, "..."));
  RUNG_TRY(const int64_t leeway, a.integer_or(4, 5));
  const auto size = static_cast<int64_t>(text::count_characters(text));
  const auto end_size = static_cast<int64_t>(text::count_characters(end));
  if (length < end_size || leeway < 0) return a.wrong(1, "a length that the end fits in");
  if (size - leeway <= length) return run.text(text);
  std::string_view kept = part_of(text, 0, length - end_size);
  const size_t blank = kept.rfind(' ');
  if (!a.truth_or(2, false) && blank != kept.npos) kept = kept.substr(0, blank);
  return run.text(std::string(kept) + end);
}

Result<Value> center(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, text_of(run, a[0]));
  RUNG_TRY(const int64_t width, a.integer_or(1, 80));
  RUNG_TRY(std::string out, aligned(run, text, {width, " ", Alignment::center}));
  return Value(std::move(out));
}

Result<Value> count_words(Run& run, const Bound& a) {
  RUNG_TRY(const std::string text, text_of(run, a[0]));
  int64_t words = 0;
  bool within = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = text::next_character(text, at);
    const bool is_of_word = is_letter(c) || is_numeric(c) || c == '_';
    words += is_of_word && !within ? 1 : 0;
    within = is_of_word;
  }
  return Value(words);
}

Result<Value> format_text(Run& run, const Bound& a) {
  RUNG_TRY(const std::string format, text_of(run, a[0]));
  const CallArguments& given = a.further();
  Result<Value> values = None{};
  if (given.named.empty()) {
    values = run.sequence(given.positional, Sequence::Kind::tuple);
  } else {
    std::vector<Entry> entries;
    for (const auto& [name, value] : given.named) entries.push_back({Value(name), value});
    values = run.dictionary(std::move(entries));
  }
  RUNG_CHECK(values);
  RUNG_TRY(std::string out, formatted(run, format, *values));
  return run.text(std::move(out));
}

Result<Value> to_json(Run& run, const Bound& a) {
  JsonStyle style{.escapes = a.truth_or(1, false), .sorts_keys = a.truth_or(4, false)};
  if (a[2].text()) {
    style.indent = *a[2].text();
  } else if (a.has(2)) {
    RUNG_TRY(const int64_t width, a.integer(2));
    RUNG_TRY(style.indent, aligned(run, "", {width, " ", Alignment::left}));
  }
  if (style.indent) style.between_items = ",";
  if (a.has(3)) {
    const Sequence* pair = a[3].sequence();
    if (!pair || pair->of.size() != 2 || !pair->of[0].text() || !pair->of[1].text()) return a.wrong(3, "two texts");
    style.between_items = *pair->of[0].text();
    style.after_keys = *pair->of[1].text();
  }
  RUNG_TRY(std::string json, json_of(run, a[0], style));
  return Value(std::move(json));
}

// Returns the number that a text writes, in a base that may be told by a prefix such as "0x".
std::optional<int64_t> integer_in(std::string_view text, int64_t base) {
  std::string digits(stripped(text, std::nullopt, Ends::both));
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.erase(0, 1);
  for (const auto& [of, mark] : {std::pair(16, 'x'), std::pair(8, 'o'), std::pair(2, 'b')})
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == mark && (base == of || base == 0)) {
      digits.erase(0, 2);
      base = of;
    }
  if (base == 0) base = 10;
  if (digits.empty() || digits.front() == '_' || digits.back() == '_' || digits.front() == '-') return std::nullopt;
  std::erase(digits, '_');
  if (is_negative) digits.insert(0, 1, '-');
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, static_cast<int>(base));
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> real_in(std::string_view text) {
  std::string digits(stripped(text, std::nullopt, Ends::both));
  if (digits.starts_with('+')) digits.erase(0, 1);
  std::erase(digits, '_');
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> real_of(const Value& value) {
  if (value.text()) return real_in(*value.text());
  double room = 0;
  const double* real = as_real(value, room);
  return real ? std::optional(*real) : std::nullopt;
}

// A value that is no number becomes the default.
Result<Value> to_integer(Run&, const Bound& a) {
  RUNG_CHECK(check_defined(a[0]));
  RUNG_TRY(const int64_t base, a.integer_or(2, 10));
  if (base != 0 && (base < 2 || base > 36)) return a.wrong(2, "a base from 2 to 36, or 0");
  int64_t room = 0;
  if (const int64_t* integer = as_integer(a[0], room)) return Value(*integer);
  if (a[0].text()) {
    if (const auto value = integer_in(*a[0].text(), base)) return Value(*value);
  }
  const auto real = real_of(a[0]);
  if (real && std::abs(*real) < 9.2e18) return Value(static_cast<int64_t>(*real));
  return a.has(1) ? a[1] : Value(int64_t{0});
}

Result<Value> to_real(Run&, const Bound& a) {
  RUNG_CHECK(check_defined(a[0]));
  const auto real = real_of(a[0]);
  return real ? Value(*real) : a.has(1) ? a[1] : Value(0.0);
}

Result<Value> absolute(Run&, const Bound& a) {
  RUNG_CHECK(check_defined(a[0]));
  int64_t room = 0;
  if (const int64_t* integer = as_integer(a[0], room)) {
    if (*integer == std::numeric_limits<int64_t>::min()) return a.wrong(0, "a number of 64 bits");
    return Value(std::abs(*integer));
  }
  if (!a[0].real()) return a.wrong(0, "a number");
  return Value(std::abs(*a[0].real()));
}

// Half a unit goes to the even neighbour, as {fmt} and the language round the digits of a number.
Result<Value> round_number(Run&, const Bound& a) {
  RUNG_TRY(const int64_t digits, a.integer_or(1, 0));
  RUNG_TRY(const std::string method, a.text_or(2, "common"));
  if (digits < -300 || digits > 300) return a.wrong(1, "at most 300 digits");
  double room = 0;
  const double* real = as_real(a[0], room);
  if (!real) return a.wrong(0, "a number");
  const double scale = std::pow(10.0, static_cast<double>(digits));
  if (method == "ceil") return Value(std::ceil(*real * scale) / scale);
  if (method == "floor") return Value(std::floor(*real * scale) / scale);
  if (method != "common") return a.wrong(2, "'common', 'ceil' or 'floor'");
  int64_t whole = 0;
  if (const int64_t* integer = as_integer(a[0], whole); integer && digits >= 0) return Value(*integer);
  const double rounded = digits < 0 ? std::nearbyint(*real * scale) / scale : 0;
  if (digits < 0) return a[0].real() ? Value(rounded) : Value(static_cast<int64_t>(rounded));
  return Value(real_in(fmt::format("{:.{}f}", *real, static_cast<int>(digits))).value_or(*real));
}

Result<Value> default_of(Run&, const Bound& a) {
  if (!a[0].is_undefined() && (!a.truth_or(2, false) || is_true(a[0]))) return a[0];
  return a.has(1) ? a[1] : Value(std::string());
}

// Returns an attribute, and no item.
Result<Value> attribute(Run& run, const Bound& a) {
  RUNG_TRY(const std::string name, a.text(1));
  if (a[0].dictionary() && !find(methods_of_dictionaries(), name))
    return Value::undefined(fmt::format("{} has no attribute '{}'", kind_of(a[0]), name));
  return attribute_of(run, a[0], name);
}

constexpr Callable kFilters[] = {
    {"abs", "value", absolute},
    {"attr", "value name", attribute},
    {"capitalize", "value", change_text<capitalized>},
    {"center", "value width?", center},
    {"d", "value default_value? boolean?", default_of},
    {"default", "value default_value? boolean?", default_of},
    {"e", "value", change_text<escaped>},
    {"escape", "value", change_text<escaped>},
    {"float", "value default?", to_real},
    {"forceescape", "value", change_text<escaped>},
    {"format", "value * **", format_text},
    {"indent", "value width? first? blank?", indent},
    {"int", "value default? base?", to_integer},
    {"lower", "value", change_text<lower>},
    {"replace", "value old new count?", replace_text},
    {"round", "value precision? method?", round_number},
    {"safe", "value", change_text<same_text>},
    {"string", "value", change_text<same_text>},
    {"title", "value", change_text<titled>},
    {"tojson", "value ensure_ascii? indent? separators? sort_keys?", to_json},
    {"trim", "value chars?", trim},
    {"truncate", "value length? killwords? end? leeway?", truncate},
    {"upper", "value", change_text<upper>},
    {"wordcount", "value", count_words},
};

}  // namespace

Callables filters() { return kFilters; }

}  // namespace rung::jinja
