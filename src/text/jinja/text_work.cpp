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

// A set of characters, or all white space.
class Characters {
 public:
  explicit Characters(const std::optional<std::string>& set) : is_blanks_(!set) {
    for (size_t at = 0; set && at < set->size();) set_.push_back(text::next_character(*set, at));
    std::sort(set_.begin(), set_.end());
  }
  bool has(std::string_view character) const {
    size_t at = 0;
    const CodePoint c = text::next_character(character, at);
    return is_blanks_ ? is_blank(c) : std::binary_search(set_.begin(), set_.end(), c);
  }

 private:
  bool is_blanks_;
  std::vector<CodePoint> set_;
};

// Parts of a text, of which each is counted.
class Parts {
 public:
  explicit Parts(Run& run) : run_(run) {}
  Status add(std::string_view part) {
    constexpr size_t kBytesOfPart = 128;  // as a view, and as a text within a list
    parts_.push_back(part);
    return run_.spend_bytes(part.size() + kBytesOfPart);
  }
  std::vector<std::string_view> take(bool reverses = false) {
    if (reverses) std::reverse(parts_.begin(), parts_.end());
    return std::move(parts_);
  }

 private:
  Run& run_;
  std::vector<std::string_view> parts_;
};

size_t begin_of_word(std::string_view text) {
  const Characters blanks(std::nullopt);
  size_t begin = text.size();
  while (begin > 0) {
    const size_t last = begin_of_last(text.substr(0, begin));
    if (blanks.has(text.substr(last, begin - last))) break;
    begin = last;
  }
  return begin;
}

size_t end_of_word(std::string_view text) {
  const Characters blanks(std::nullopt);
  size_t end = 0;
  while (end < text.size() && !blanks.has(text.substr(end, text::bytes_of_character(text[end]))))
    end += text::bytes_of_character(text[end]);
  return end;
}

Result<std::vector<std::string_view>> split_at_blanks(Run& run, std::string_view text, Splitting splitting) {
  Parts parts(run);
  for (int64_t left = splitting.most;; left -= left > 0 ? 1 : 0) {
    text = stripped(text, std::nullopt, splitting.from_right ? Ends::right : Ends::left);
    if (text.empty()) return parts.take(splitting.from_right);
    if (splitting.from_right) {
      const size_t begin = left == 0 ? 0 : begin_of_word(text);
      RUNG_CHECK(parts.add(text.substr(begin)));
      text = text.substr(0, begin);
    } else {
      const size_t end = left == 0 ? text.size() : end_of_word(text);
      RUNG_CHECK(parts.add(text.substr(0, end)));
      text.remove_prefix(end);
    }
  }
}

bool ends_line(CodePoint c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

std::string_view stripped(std::string_view text, const std::optional<std::string>& characters, Ends ends) {
  const Characters set(characters);
  while (ends != Ends::right && !text.empty()) {
    const size_t size = text::bytes_of_character(text[0]);
    if (!set.has(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (ends != Ends::left && !text.empty()) {
    const size_t last = begin_of_last(text);
    if (!set.has(text.substr(last))) break;
    text = text.substr(0, last);
  }
  return text;
}

Result<std::vector<std::string_view>> split_text(Run& run, std::string_view text,
                                                 const std::optional<std::string>& separator, Splitting splitting) {
  if (!separator) return split_at_blanks(run, text, splitting);
  RUNG_CHECK(run.spend_search(text, *separator));
  Parts parts(run);
  for (int64_t left = splitting.most; left != 0; --left) {
    const size_t at = splitting.from_right ? text.rfind(*separator) : text.find(*separator);
    if (at == text.npos) break;
    RUNG_CHECK(parts.add(splitting.from_right ? text.substr(at + separator->size()) : text.substr(0, at)));
    text = splitting.from_right ? text.substr(0, at) : text.substr(at + separator->size());
  }
  RUNG_CHECK(parts.add(text));
  return parts.take(splitting.from_right);
}

Result<std::vector<std::string_view>> lines_of(Run& run, std::string_view text, bool keeps_ends) {
  Parts lines(run);
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at;
    const CodePoint c = text::next_character(text, at);
    if (!ends_line(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    RUNG_CHECK(lines.add(text.substr(begin, (keeps_ends ? at : end) - begin)));
    begin = at;
  }
  if (begin < text.size()) RUNG_CHECK(lines.add(text.substr(begin)));
  return lines.take();
}

Result<std::string> replaced(Run& run, std::string_view text, Replacement replacement, int64_t most) {
  std::string out;
  RUNG_CHECK(run.spend_bytes(text.size()));
  RUNG_CHECK(run.spend_search(text, replacement.from));
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
