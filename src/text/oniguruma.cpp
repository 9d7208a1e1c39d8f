// Translates patterns from Oniguruma's dialect to PCRE2's, where the same signs mean something else.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "text/regex.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

struct LaterRange {
  std::string_view name;  // of a category or a script
  CodePoint first, last;
};
#include "text/later_characters.inc"

// Contents of classes. PCRE2's own \s has U+180E, which is no space any more, and its \w has no marks.
constexpr std::string_view kSpaces =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kHexDigits = "0-9a-fA-F";

// Names of POSIX for classes, in \p{Alpha} and [[:alpha:]], by what PCRE2 calls them.
constexpr std::pair<std::string_view, std::string_view> kPosixNames[] = {
    {"alpha", "Alphabetic"}, {"digit", "Nd"}, {"upper", "Uppercase"}, {"lower", "Lowercase"}, {"punct", "P"}};
// Names of Unicode's properties; other long names are those of scripts.
constexpr std::string_view kProperties[] = {"Alphabetic", "Uppercase",   "Lowercase",
                                            "Emoji",      "White_Space", "Extended_Pictographic"};

// Returns the ranges of characters that PCRE2 may not know yet of a category, such as "L" or "Lu", a property or a
// script.
std::string later_ranges(std::string_view name) {
  std::string ranges;
  for (const LaterRange& range : kLater)
    if (range.name == name || (name.size() == 1 && range.name.size() == 2 && range.name.starts_with(name)))
      ranges += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", range.first, range.last);
  return ranges;
}

// Returns the content of the class of a category, a property or a script.
std::string named_class(std::string_view name) {
  const bool is_script =
      name.size() > 2 && std::find(std::begin(kProperties), std::end(kProperties), name) == std::end(kProperties);
  // Without sc: PCRE2 takes characters that several scripts share for each of them.
  return fmt::format("\\p{{{}{}}}{}", is_script ? "sc:" : "", name, later_ranges(name));
}

// Returns the characters of words.
std::string word_characters() { return named_class("Alphabetic") + named_class("M") + named_class("Nd") + R"(\p{Pc})"; }
// Oniguruma takes Latin-1's raised digits and fractions for characters of words, too, but not inside of brackets.
constexpr std::string_view kWordsOutsideBrackets = R"(\xb2\xb3\xb9\xbc-\xbe)";

// Returns the content of the class that POSIX names, or nothing.
std::string posix_class(std::string_view name) {
  if (name == "space") return std::string(kSpaces);
  if (name == "alnum") return named_class("Alphabetic") + named_class("Nd");
  for (const auto& [posix, own] : kPosixNames)
    if (name == posix) return named_class(own);
  return {};
}

// Returns what matches between a character of a word and another one, or else everywhere but there.
std::string edge_of_word(bool negated) {
  const std::string word = word_characters().append(kWordsOutsideBrackets);
  const std::string after = fmt::format("(?=[{}])", word), not_after = fmt::format("(?![{}])", word);
  return fmt::format("(?:(?<=[{0}]){1}|(?<![{0}]){2})", word, negated ? after : not_after, negated ? not_after : after);
}

class PatternTranslator {
 public:
  explicit PatternTranslator(std::string_view pattern) : in_(pattern) {}

  Result<std::string> run() {
    while (at_ < in_.size()) RUNG_CHECK(step());
    return std::move(out_);
  }

 private:
  bool sees(std::string_view text) const { return in_.substr(at_).starts_with(text); }
  tl::unexpected<Error> unsupported(std::string_view what) const {
    return bad_file("got '{}': {} at byte {} are not supported", in_, what, at_);
  }
  void begin_atom() { atom_ = out_.size(); }
  void copy(size_t count = 1) {
    count = std::min(count, in_.size() - at_);
    out_ += in_.substr(at_, count);
    at_ += count;
  }

  Status step() {
    switch (in_[at_]) {
      case '\\':
        return escape();
      case '[':
        return character_class();
      case '(':
        return open_group();
      case ')':
        return close_group();
      case '{':
        return counted();
      case '*':
      case '+':
      case '?':
      case '|':
        copy();
        return {};
      default:
        begin_atom();
        copy(bytes_of_character(in_[at_]));
        return {};
    }
  }

  Status open_group() {
    groups_.push_back(out_.size());
    copy();
    if (!sees("?")) return {};
    copy();
    // Oniguruma's m has the dot match line feeds, which is PCRE2's s.
    while (at_ < in_.size() && (in_[at_] == '-' || in_[at_] == 'i' || in_[at_] == 'm' || in_[at_] == 'x')) {
      out_ += in_[at_] == 'm' ? 's' : in_[at_];
      ++at_;
    }
    if (at_ < in_.size() && in_[at_] >= 'a' && in_[at_] <= 'z') return unsupported("such options");
    return {};
  }

  Status close_group() {
    if (groups_.empty()) return bad_file("got '{}': ')' at byte {} closes nothing", in_, at_);
    atom_ = groups_.back();
    groups_.pop_back();
    copy();
    return {};
  }

  // {1,3}+ and {3}? repeat the repetition, where PCRE2 would not give back what it took, or would take as little as it
  // can; {,3} is {0,3}.
  Status counted() {
    const size_t end = in_.find('}', at_);
    const std::string_view inside = in_.substr(at_ + 1, end == std::string_view::npos ? 0 : end - at_ - 1);
    if (inside.empty() || inside.find_first_not_of("0123456789,") != std::string_view::npos) {
      begin_atom();
      copy();
      return {};
    }
    out_ += inside.front() == ',' ? "{0" : "{";
    ++at_;
    copy(end + 1 - at_);
    const bool is_exact = inside.find(',') == std::string_view::npos;
    if (!sees("+") && !(is_exact && sees("?"))) return {};
    out_.insert(atom_, "(?:");
    out_ += ")";
    copy();
    return {};
  }

  // A class of one escape outside of brackets.
  void add_class(bool negated, std::string_view content) {
    out_ += negated ? "[^" : "[";
    out_ += content;
    out_ += ']';
  }

  Status escape() {
    begin_atom();
    if (at_ + 1 >= in_.size()) return bad_file("got '{}', which ends with a backslash", in_);
    const char letter = in_[at_ + 1];
    if (letter == 'p' || letter == 'P') return property(/*bracketed=*/false);
    const bool negated = letter >= 'A' && letter <= 'Z';
    std::string content = escaped_class(negated ? static_cast<char>(letter + 'a' - 'A') : letter);
    if (letter == 'w' || letter == 'W') content += kWordsOutsideBrackets;
    if (letter == 'b' || letter == 'B') {
      out_ += edge_of_word(negated);
    } else if (!content.empty()) {
      add_class(negated, content);
    } else {
      return plain_escape();
    }
    at_ += 2;
    return {};
  }

  // Returns the content of the class that a small letter stands for, or nothing.
  static std::string escaped_class(char letter) {
    switch (letter) {
      case 's':
        return std::string(kSpaces);
      case 'h':
        return std::string(kHexDigits);
      case 'w':
        return word_characters();
      case 'd':
        return named_class("Nd");
      default:
        return {};
    }
  }

  // Copies an escape that means the same in both dialects; four digits after u are PCRE2's \x{...}.
  Status plain_escape() {
    if (in_[at_ + 1] == 'X') return unsupported("clusters of characters");
    if (in_[at_ + 1] != 'u') {
      copy(1 + bytes_of_character(in_[at_ + 1]));
      return {};
    }
    const std::string_view digits = in_.substr(at_ + 2, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      return bad_file("got '{}': wanted four hexadecimal digits after \\u at byte {}", in_, at_);
    out_ += fmt::format("\\x{{{}}}", digits);
    at_ += 6;
    return {};
  }

  // Copies \p{...}, with the characters that PCRE2 does not know yet.
  Status property(bool bracketed) {
    const size_t end = in_.find('}', at_);
    if (at_ + 3 >= in_.size() || in_[at_ + 2] != '{' || end == std::string_view::npos)
      return bad_file("got '{}': wanted a name in braces after \\p at byte {}", in_, at_);
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    bool negated = in_[at_ + 1] == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    if (bracketed && negated && name.size() > 2) return unsupported("negated classes in brackets");
    std::string lower(name);
    if (lower.size() > 2) lower[0] = static_cast<char>(lower[0] | 0x20);
    std::string content = posix_class(lower);
    if (content.empty()) content = named_class(name);
    if (!bracketed)
      add_class(negated, content);
    else
      out_ += negated ? fmt::format("\\P{{{}}}", name) : content;
    at_ = end + 1;
    return {};
  }

  // Copies [:alpha:] inside of brackets, where punctuation has ASCII's symbols, too.
  Status posix_brackets() {
    const size_t end = in_.find(":]", at_ + 2);
    const std::string_view name = in_.substr(at_ + 2, end == std::string_view::npos ? 0 : end - at_ - 2);
    const std::string content = posix_class(name);
    if (content.empty()) return unsupported("such classes in brackets");
    out_ += content;
    if (name == "punct") out_ += R"($+<=>\^`|~)";
    at_ = end + 2;
    return {};
  }

  Status class_escape() {
    if (at_ + 1 >= in_.size()) return bad_file("got '{}', which ends with a backslash", in_);
    const char letter = in_[at_ + 1];
    if (letter == 'p' || letter == 'P') return property(/*bracketed=*/true);
    const std::string content = escaped_class(letter);
    if (content.empty()) {
      if (letter == 'H' || letter == 'W') return unsupported("negated classes in brackets");
      return plain_escape();
    }
    out_ += content;
    at_ += 2;
    return {};
  }

  Status character_class() {
    begin_atom();
    copy();
    if (sees("^")) copy();
    if (sees("]")) copy();
    while (at_ < in_.size() && in_[at_] != ']') {
      if (sees("[:")) {
        RUNG_CHECK(posix_brackets());
      } else if (sees("[")) {
        return unsupported("brackets in brackets");
      } else if (sees("&&")) {
        return unsupported("intersections of classes");
      } else if (sees("\\")) {
        RUNG_CHECK(class_escape());
      } else {
        copy(bytes_of_character(in_[at_]));
      }
    }
    copy();
    return {};
  }

  std::string_view in_;
  size_t at_ = 0;
  std::string out_;
  size_t atom_ = 0;             // the begin in out_ of what a quantifier repeats
  std::vector<size_t> groups_;  // begins of open groups in out_
};

}  // namespace

Result<std::string> translate_pattern(std::string_view pattern) { return PatternTranslator(pattern).run(); }

}  // namespace rung::text
