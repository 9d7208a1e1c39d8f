// Splits a template into data and tags, and drops white space around tags.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/characters.hpp"
#include "text/jinja/tag_lexer.hpp"
#include "text/jinja/token.hpp"

namespace rung::jinja {
namespace {

using Kind = Token::Kind;

// Lines end with a line feed alone, and the last one with nothing.
std::string with_plain_lines(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    out += text[at] == '\r' ? '\n' : text[at];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool blank_at(std::string_view text, size_t at) { return is_blank(text::next_character(text, at)); }

size_t behind_blanks(std::string_view text, size_t at) {
  while (at < text.size() && blank_at(text, at)) at += text::bytes_of_character(text[at]);
  return at;
}

size_t begin_of_last_blanks(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0) {
    size_t before = begin - 1;
    while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xc0) == 0x80) --before;
    if (!blank_at(text, before)) break;
    begin = before;
  }
  return begin;
}

class Lexer {
 public:
  explicit Lexer(std::string text) : text_(std::move(text)) {}

  Result<std::vector<Token>> read() {
    while (at_ < text_.size()) {
      auto done = read_part();
      if (!done) return fail_in(done.error(), "line {}", line_);
    }
    tokens_.push_back({.line = line_});
    return std::move(tokens_);
  }

 private:
  // Reads data up to the next tag, and the tag.
  Status read_part() {
    const size_t begin = at_;
    const size_t tag = tag_from(begin);
    if (tag == text_.npos) {
      add_data(std::string_view(text_).substr(begin));
      at_ = text_.size();
      return {};
    }
    const char kind = text_[tag + 1];
    add_data(data_before(begin, tag, kind == '{'));
    move_to(tag + 2);
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
    if (kind == '#') return skip_comment();
    if (kind == '%' && starts_raw()) return read_raw();
    return read_tag(kind == '{' ? "}}" : "%}");
  }

  size_t tag_from(size_t at) const {
    while ((at = text_.find('{', at)) != text_.npos) {
      if (at + 1 < text_.size() && std::string_view("{%#").find(text_[at + 1]) != std::string_view::npos) return at;
      ++at;
    }
    return at;
  }

  // Returns data without the white space that the tag behind it takes: all of it, or that of the tag's own line.
  std::string_view data_before(size_t begin, size_t tag, bool is_print) const {
    const std::string_view data = std::string_view(text_).substr(begin, tag - begin);
    const char sign = tag + 2 < text_.size() ? text_[tag + 2] : ' ';
    if (sign == '-') return data.substr(0, begin_of_last_blanks(data));
    if (sign == '+' || is_print) return data;
    const size_t line = data.rfind('\n') + 1;
    const bool begins_line = line > 0 || begin == 0 || text_[begin - 1] == '\n';
    return begins_line && begin_of_last_blanks(data.substr(line)) == 0 ? data.substr(0, line) : data;
  }

  void add_data(std::string_view data) {
    if (!data.empty()) tokens_.push_back({.kind = Kind::data, .spelling = std::string(data), .line = line_});
  }
  void move_to(size_t at) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    at_ = at;
  }
  bool here(std::string_view sign) const { return std::string_view(text_).substr(at_).starts_with(sign); }

  // Moves behind the end of a tag, if it is here, with the white space that it takes.
  bool skip_end(std::string_view end, bool takes_line) {
    const std::string with_minus = fmt::format("-{}", end);
    if (here(with_minus)) {
      move_to(behind_blanks(text_, at_ + with_minus.size()));
      return true;
    }
    const size_t plus = takes_line && here(fmt::format("+{}", end)) ? 1 : 0;
    if (plus == 0 && !here(end)) return false;
    move_to(at_ + plus + end.size());
    if (plus == 0 && takes_line && here("\n")) move_to(at_ + 1);
    return true;
  }

  // The sign before the end belongs to the end.
  Status skip_comment() {
    const size_t end = text_.find("#}", at_);
    if (end == text_.npos) return bad_file("got a comment without its end '#}}'");
    const bool has_sign = end > at_ && (text_[end - 1] == '-' || text_[end - 1] == '+');
    move_to(has_sign ? end - 1 : end);
    skip_end("#}", /*takes_line=*/true);
    return {};
  }

  // Moves over `{% raw %}`, of which the begin is already behind, if this is one.
  bool starts_raw() {
    const size_t name = behind_blanks(text_, at_);
    if (!std::string_view(text_).substr(name).starts_with("raw")) return false;
    const size_t end = behind_blanks(text_, name + 3);
    const std::string_view rest = std::string_view(text_).substr(end);
    if (!rest.starts_with("%}") && !rest.starts_with("-%}")) return false;
    move_to(end);
    return skip_end("%}", /*takes_line=*/false);
  }

  Status read_raw() {
    const int begin_line = line_;
    const size_t begin = at_;
    for (size_t tag = text_.find("{%", begin); tag != text_.npos; tag = text_.find("{%", tag + 1)) {
      const bool has_sign = tag + 2 < text_.size() && (text_[tag + 2] == '-' || text_[tag + 2] == '+');
      const size_t name = behind_blanks(text_, tag + (has_sign ? 3 : 2));
      if (!std::string_view(text_).substr(name).starts_with("endraw")) continue;
      const std::string_view data = data_before(begin, tag, /*is_print=*/false);
      add_data(data);
      move_to(behind_blanks(text_, name + 6));
      if (skip_end("%}", /*takes_line=*/true)) return {};
      return bad_file("got 'endraw' without '%}}'");
    }
    line_ = begin_line;
    return bad_file("got 'raw' without its 'endraw'");
  }

  Status read_tag(std::string_view end) {
    const bool is_print = end == "}}";
    tokens_.push_back({.kind = is_print ? Kind::print_begin : Kind::tag_begin, .line = line_});
    std::string open;  // the brackets to be closed
    for (;;) {
      move_to(behind_blanks(text_, at_));
      if (at_ == text_.size()) return bad_file("got the end of the template, wanted '{}'", end);
      const int line = line_;
      if (open.empty() && skip_end(end, !is_print)) {
        tokens_.push_back({.kind = is_print ? Kind::print_end : Kind::tag_end, .line = line});
        return {};
      }
      RUNG_TRY(Token token, read_token(text_, at_, line_));
      RUNG_CHECK(follow(token, open));
      tokens_.push_back(std::move(token));
    }
  }

  // Keeps count of brackets: within them the marks of a tag's end are signs.
  static Status follow(const Token& token, std::string& open) {
    constexpr std::string_view opening = "([{", closing = ")]}";
    if (token.kind != Kind::sign || token.spelling.size() != 1) return {};
    const char sign = token.spelling[0];
    if (const size_t place = opening.find(sign); place != opening.npos) open += closing[place];
    if (closing.find(sign) == closing.npos) return {};
    if (open.empty() || open.back() != sign)
      return bad_file("got '{}', wanted {}", sign,
                      open.empty() ? "no closing bracket" : fmt::format("'{}'", open.back()));
    open.pop_back();
    return {};
  }

  std::string text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> read_tokens(std::string_view text) { return Lexer(with_plain_lines(text)).read(); }

std::string describe(const Token& token) {
  switch (token.kind) {
    case Kind::name:
    case Kind::sign:
      return fmt::format("'{}'", token.spelling);
    case Kind::text:
      return "a text";
    case Kind::number:
      return "a number";
    case Kind::data:
      return "plain text";
    case Kind::end:
      return "the end of the template";
    default:
      return token.kind == Kind::tag_end || token.kind == Kind::print_end ? "the end of the tag" : "a tag";
  }
}

}  // namespace rung::jinja
