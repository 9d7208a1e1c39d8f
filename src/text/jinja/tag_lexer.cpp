// Reads numbers, names, texts and signs.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/tag_lexer.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "text/unicode.hpp"

namespace rung::jinja {
namespace {

// Longer signs go before those that they begin with.
constexpr std::string_view kSigns[] = {"**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                       "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Moves over digits, with single underscores between them.
void skip_digits(std::string_view text, size_t& at, int base) {
  const auto is_of_base = [&](size_t i) {
    return i < text.size() && (base == 16 ? std::isxdigit(static_cast<unsigned char>(text[i])) != 0
                                          : text[i] >= '0' && text[i] < '0' + base);
  };
  while (is_of_base(at) || (at < text.size() && text[at] == '_' && is_of_base(at + 1))) ++at;
}

std::string without_underscores(std::string_view digits) {
  std::string out(digits);
  std::erase(out, '_');
  return out;
}

int base_of(std::string_view text, size_t at) {
  if (at + 2 >= text.size() || text[at] != '0') return 10;
  const char mark = text[at + 1];
  return mark == 'x' || mark == 'X' ? 16 : mark == 'o' || mark == 'O' ? 8 : mark == 'b' || mark == 'B' ? 2 : 10;
}

Result<Value> read_integer(std::string_view spelling, int base) {
  const std::string digits = without_underscores(spelling);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size())
    return bad_file("got the number '{}', wanted one of 64 bits", spelling.substr(0, 60));
  return Value(value);
}

// Moves over the fraction and the exponent of a float, if there is any.
bool skip_fraction(std::string_view text, size_t& at) {
  const size_t begin = at;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) skip_digits(text, ++at, 10);
  size_t exponent = at;
  if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) {
    ++exponent;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && is_digit(text[exponent])) skip_digits(text, at = exponent, 10);
  }
  return at > begin;
}

Result<Value> read_number(std::string_view text, size_t& at, bool may_be_float) {
  const size_t begin = at;
  if (const int base = base_of(text, at); base != 10) {
    skip_digits(text, at += 2, base);
    return read_integer(text.substr(begin + 2, at - begin - 2), base);
  }
  skip_digits(text, at, 10);
  if (!may_be_float || !skip_fraction(text, at)) return read_integer(text.substr(begin, at - begin), 10);
  const std::string digits = without_underscores(text.substr(begin, at - begin));
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    return bad_file("got the number '{}', wanted one within a float's range", digits.substr(0, 60));
  return Value(value);
}

std::optional<char> simple_escape(char c) {
  constexpr std::string_view names = "\\'\"abfnrtv", bytes = "\\'\"\a\b\f\n\r\t\v";
  const size_t place = names.find(c);
  return place == names.npos ? std::nullopt : std::optional(bytes[place]);
}

// Reads the digits of an escape such as \u00e9.
Result<text::CodePoint> read_code(std::string_view text, size_t& at, size_t digits) {
  uint32_t code = 0;
  const std::string_view spelling = text.substr(at, digits);
  const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), code, 16);
  const bool is_whole = spelling.size() == digits && error == std::errc() && end == spelling.data() + digits;
  if (!is_whole || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return bad_file("got the escape '{}', wanted {} hexadecimal digits of a character", spelling, digits);
  at += digits;
  return static_cast<text::CodePoint>(code);
}

text::CodePoint read_octal(std::string_view text, size_t& at) {
  text::CodePoint code = 0;
  for (int i = 0; i < 3 && at < text.size() && text[at] >= '0' && text[at] < '8'; ++i)
    code = code * 8 + text[at++] - '0';
  return code;
}

// Reads what stands behind a backslash. One that begins no escape stands for itself.
Status read_escape(std::string_view text, size_t& at, std::string& out) {
  const char c = text[at++];
  if (c == '\n') return {};
  if (const auto byte = simple_escape(c)) {
    out += *byte;
    return {};
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    RUNG_TRY(const text::CodePoint code, read_code(text, at, c == 'x' ? 2 : c == 'u' ? 4 : 8));
    text::append(out, code);
    return {};
  }
  if (c >= '0' && c < '8') {
    text::append(out, read_octal(text, --at));
    return {};
  }
  if (c == 'N') return bad_file("got an escape by a character's name, wanted its number, such as '\\u00e9'");
  out += '\\';
  --at;
  return {};
}

Result<std::string> read_text(std::string_view text, size_t& at) {
  const char quote = text[at++];
  std::string out;
  while (at < text.size() && text[at] != quote) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (++at == text.size()) break;
    RUNG_CHECK(read_escape(text, at, out));
  }
  if (at == text.size()) return bad_file("got a text without its closing quote {}", quote);
  ++at;
  return out;
}

}  // namespace

Result<Token> read_token(std::string_view text, size_t& at, int& line) {
  Token token{.line = line};
  const size_t begin = at;
  const char c = text[at];
  if (is_digit(c)) {
    token.kind = Token::Kind::number;
    RUNG_TRY(token.number, read_number(text, at, begin == 0 || text[begin - 1] != '.'));
  } else if (begins_name(c)) {
    token.kind = Token::Kind::name;
    while (at < text.size() && (begins_name(text[at]) || is_digit(text[at]))) ++at;
    token.spelling = text.substr(begin, at - begin);
  } else if (c == '\'' || c == '"') {
    token.kind = Token::Kind::text;
    RUNG_TRY(token.spelling, read_text(text, at));
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                        text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  } else {
    const auto* sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                    [&](std::string_view one) { return text.substr(begin).starts_with(one); });
    if (sign == std::end(kSigns)) return bad_file("got the character '{}', wanted a name, a number or a sign", c);
    token.kind = Token::Kind::sign;
    token.spelling = *sign;
    at += sign->size();
  }
  return token;
}

}  // namespace rung::jinja
