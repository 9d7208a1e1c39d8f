// Strips, splits, replaces and aligns.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/text_work.hpp"

#include <algorithm>
#include <charconv>

#include "text/jinja/python_text.hpp"
#include "text/jinja/subscripts.hpp"

namespace rung::jinja {
namespace {

size_t begin_of_last(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

bool is_of_set(std::string_view character, const std::optional<std::string>& characters) {
  size_t at = 0;
  return characters ? characters->find(character) != characters->npos : is_blank(text::next_character(character, at));
}

std::vector<std::string_view> split_at_blanks(std::string_view text, int64_t most) {
  std::vector<std::string_view> parts;
  for (;;) {
    text = stripped(text, std::nullopt, Ends::left);
    if (text.empty()) return parts;
    size_t end = 0;
    if (most == 0) end = text.size();
    while (end < text.size() && !is_of_set(text.substr(end, text::bytes_of_character(text[end])), std::nullopt))
      end += text::bytes_of_character(text[end]);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
    if (most > 0) --most;
  }
}

std::vector<std::string_view> split_at_blanks_from_right(std::string_view text, int64_t most) {
  std::vector<std::string_view> parts;
  for (;; most -= most > 0 ? 1 : 0) {
    text = stripped(text, std::nullopt, Ends::right);
    if (text.empty()) break;
    size_t begin = most == 0 ? 0 : text.size();
    while (begin > 0) {
      const size_t last = begin_of_last(text.substr(0, begin));
      if (is_of_set(text.substr(last, begin - last), std::nullopt)) break;
      begin = last;
    }
    parts.push_back(text.substr(begin));
    text = text.substr(0, begin);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

bool ends_line(CodePoint c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

std::string_view stripped(std::string_view text, const std::optional<std::string>& characters, Ends ends) {
  while (ends != Ends::right && !text.empty()) {
    const size_t size = text::bytes_of_character(text[0]);
    if (!is_of_set(text.substr(0, size), characters)) break;
    text.remove_prefix(size);
  }
  while (ends != Ends::left && !text.empty()) {
    const size_t last = begin_of_last(text);
    if (!is_of_set(text.substr(last), characters)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::vector<std::string_view> split_text(std::string_view text, const std::optional<std::string>& separator,
                                         Splitting splitting) {
  if (!separator)
    return splitting.from_right ? split_at_blanks_from_right(text, splitting.most)
                                : split_at_blanks(text, splitting.most);
  std::vector<std::string_view> parts;
  for (int64_t left = splitting.most; left != 0; --left) {
    const size_t at = splitting.from_right ? text.rfind(*separator) : text.find(*separator);
    if (at == text.npos) break;
    parts.push_back(splitting.from_right ? text.substr(at + separator->size()) : text.substr(0, at));
    text = splitting.from_right ? text.substr(0, at) : text.substr(at + separator->size());
  }
  parts.push_back(text);
  if (splitting.from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at;
    const CodePoint c = text::next_character(text, at);
    if (!ends_line(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(begin, (keeps_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

Result<std::string> replaced(Run& run, std::string_view text, Replacement replacement, int64_t most) {
  std::string out;
  RUNG_CHECK(run.spend_bytes(text.size()));
  size_t at = 0;
  for (int64_t left = most; left != 0; --left) {
    const size_t found = text.find(replacement.from, at);
    if (found == text.npos) break;
    RUNG_CHECK(run.spend_bytes(replacement.to.size()));
    out += text.substr(at, found - at);
    out += replacement.to;
    at = found + replacement.from.size();
    if (!replacement.from.empty()) continue;
    if (at == text.size()) return out;
    const size_t size = text::bytes_of_character(text[at]);
    out += text.substr(at, size);
    at += size;
  }
  return out += text.substr(at);
}

int64_t count_text(std::string_view text, std::string_view wanted) {
  if (wanted.empty()) return static_cast<int64_t>(text::count_characters(text)) + 1;
  int64_t count = 0;
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size())) ++count;
  return count;
}

std::string_view part_of(std::string_view text, int64_t begin, int64_t end) {
  const auto count = static_cast<int64_t>(text::count_characters(text));
  const auto within = [&](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + count : place, 0, count); };
  const int64_t first = within(begin), last = std::max(first, within(end));
  const size_t from = byte_of_place(text, static_cast<size_t>(first));
  const std::string_view rest = text.substr(from);
  return rest.substr(0, byte_of_place(rest, static_cast<size_t>(last - first)));
}

// If the number of blanks around a text is odd, the left side has one more where the width is odd, as in Python.
Result<std::string> aligned(Run& run, std::string_view text, const Aligned& how) {
  const auto length = static_cast<int64_t>(text::count_characters(text));
  const int64_t missing = std::max<int64_t>(how.width - length, 0);
  RUNG_CHECK(run.spend_bytes(text.size()));
  for (size_t i = 0; i < how.fill.size(); ++i) RUNG_CHECK(run.spend_bytes(static_cast<size_t>(missing)));
  const int64_t left = how.alignment == Alignment::left    ? 0
                       : how.alignment == Alignment::right ? missing
                                                           : missing / 2 + (missing & how.width & 1);
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += how.fill;
  out += text;
  for (int64_t i = left; i < missing; ++i) out += how.fill;
  return out;
}

Result<Value> all_cased(Run& run, std::string_view text, bool (*is_of_case)(CodePoint)) {
  RUNG_CHECK(run.spend_steps(1 + text.size() / 16));
  bool has_case = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = text::next_character(text, at);
    if (!is_lower(c) && !is_upper(c) && !is_title(c)) continue;
    if (!is_of_case(c)) return Value(false);
    has_case = true;
  }
  return Value(has_case);
}

std::string titled_words(std::string_view text) {
  std::string out;
  bool within_word = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const CodePoint c = text::next_character(text, at);
    const std::string_view character = text.substr(begin, at - begin);
    out += within_word ? lower(character) : capitalized(character);
    within_word = is_lower(c) || is_upper(c) || is_title(c);
  }
  return out;
}

std::string swapped_case(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const CodePoint c = text::next_character(text, at);
    const std::string_view character = text.substr(begin, at - begin);
    out += is_lower(c) ? upper(character) : is_upper(c) ? lower(character) : std::string(character);
  }
  return out;
}

Result<std::string> filled_in(Run& run, std::string_view format, const CallArguments& arguments) {
  std::string out;
  size_t next = 0;
  bool has_place = false;
  for (size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    if ((c == '{' || c == '}') && at + 1 < format.size() && format[at + 1] == c) {
      out += c;
      ++at;
      continue;
    }
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    const size_t end = format.find('}', at);
    if (c == '}' || end == format.npos) return mismatch("got a single '{}' in a format", c);
    const std::string_view name = format.substr(at + 1, end - at - 1);
    size_t place = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), place);
    const bool is_place = name.empty() || (error == std::errc() && last == name.data() + name.size());
    if (name.empty()) place = next++;
    has_place |= is_place && !name.empty();
    if (has_place && next > 0) return mismatch("got a format with fields both with and without places");
    const auto named = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& argument) { return argument.first == name; });
    if (is_place ? place >= arguments.positional.size() : named == arguments.named.end())
      return mismatch("got the field '{{{}}}' in a format, wanted the place or the name of an argument", name);
    RUNG_TRY(const std::string text, text_of(run, is_place ? arguments.positional[place] : named->second));
    out += text;
    at = end;
  }
  return out;
}

}  // namespace rung::jinja
