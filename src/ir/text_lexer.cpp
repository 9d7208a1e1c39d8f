// Reads tokens of the graph's text form.
// SPDX-License-Identifier: Apache-2.0
#include "ir/text_lexer.hpp"

#include <charconv>
#include <limits>

#include "ir/checked_shape.hpp"

namespace rung {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '%';
}

}  // namespace

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '#')
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    else if (c == ' ' || c == '\t' || c == '\r')
      ++position_;
    else
      return;
  }
}

bool Lexer::next_statement() {
  for (skip_blanks(); position_ < text_.size() && (text_[position_] == '\n' || text_[position_] == ';');
       skip_blanks()) {
    if (text_[position_] == '\n') ++line_;
    ++position_;
  }
  return position_ < text_.size();
}

bool Lexer::at_end_of_statement() {
  skip_blanks();
  return position_ == text_.size() || text_[position_] == '\n' || text_[position_] == ';';
}

bool Lexer::peek(char c) {
  skip_blanks();
  return position_ < text_.size() && text_[position_] == c;
}

bool Lexer::accept(char c) {
  if (!peek(c)) return false;
  ++position_;
  return true;
}

Status Lexer::expect(char c) {
  if (!accept(c)) return error("got {}, wanted '{}'", shown(), c);
  return {};
}

std::string Lexer::shown() const {
  if (position_ >= text_.size()) return "the end of the text";
  if (text_[position_] == '\n') return "the end of the line";
  return fmt::format("'{}'", text_.substr(position_, std::min<size_t>(12, rest().find('\n'))));
}

Result<std::string> Lexer::word() {
  skip_blanks();
  size_t begin = position_;
  while (position_ < text_.size() && is_word(text_[position_])) ++position_;
  if (begin == position_) return error("got {}, wanted a word", shown());
  return std::string(text_.substr(begin, position_ - begin));
}

Result<std::string> Lexer::quoted() {
  RUNG_CHECK(expect('"'));
  std::string value;
  for (; position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n'; ++position_) {
    if (text_[position_] == '\\' && position_ + 1 < text_.size() && text_[position_ + 1] != '\n') ++position_;
    value += text_[position_];
  }
  if (!accept('"')) return error("a string has no closing quote");
  return value;
}

Result<double> Lexer::number() {
  skip_blanks();
  double value = 0;
  auto [end, code] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (code == std::errc::result_out_of_range) return error("got {}: out of range", shown());
  if (code != std::errc()) return error("got {}, wanted a number", shown());
  position_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<int64_t> Lexer::integer() {
  skip_blanks();
  int64_t value = 0;
  auto [end, code] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
  if (code != std::errc()) return error("got {}, wanted an integer", shown());
  position_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<Dims> Lexer::dims() {
  Dims dims;
  RUNG_CHECK(expect('['));
  while (!accept(']')) {
    if (dims.rank() > 0) RUNG_CHECK(expect(','));
    if (dims.rank() == Dims::kMaxRank) return error("got more than {} dimensions", Dims::kMaxRank);
    RUNG_TRY(int64_t dim, integer());
    dims.push_back(dim);
    if (!within_limits(dims)) return error("got dimension {}: negative, or too large a product", dim);
  }
  return dims;
}

Result<Columns> Lexer::columns() {
  Columns columns;
  RUNG_CHECK(expect('['));
  while (!accept(']')) {
    if (!columns.empty()) RUNG_CHECK(expect(','));
    RUNG_TRY(columns.emplace_back(), integer());
  }
  return columns;
}

Result<DType> Lexer::dtype() {
  RUNG_TRY(std::string name, word());
  auto found = dtype_named(name);
  if (!found) return error("got '{}', wanted a dtype such as f32", name);
  return *found;
}

Result<Type> Lexer::type() {
  RUNG_TRY(DType element, dtype());
  RUNG_TRY(Dims shape, dims());
  return Type{element, shape};
}

std::string Lexer::trailing_comment() {
  while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  if (position_ >= text_.size() || text_[position_] != '#') return {};
  size_t begin = text_.find_first_not_of(" \t#", position_), end = text_.find('\n', position_);
  if (end == std::string_view::npos) end = text_.size();
  position_ = end;
  if (begin == std::string_view::npos || begin >= end) return {};
  size_t last = text_.find_last_not_of(" \t\r", end - 1);
  return std::string(text_.substr(begin, last + 1 - begin));
}

}  // namespace rung
