// Reads only the identifiers of mangled names: profilers often cut names short, which no demangler accepts.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/kernel_name.hpp"

#include <algorithm>
#include <cctype>

namespace rung::trace {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_upper(c) || is_lower(c); }
bool is_in_word(char c) { return is_letter(c) || is_digit(c); }
bool is_in_identifier(char c) { return is_in_word(c) || c == '_' || c == '$' || c == '.'; }

// Returns whether a word ends between the two bytes; `next` is the byte after them.
bool is_bound(char before, char after, char next) {
  if (!is_in_word(before) || !is_in_word(after) || is_digit(before) != is_digit(after)) return true;
  return is_upper(after) && (is_lower(before) || is_lower(next));
}

// ---- mangled names

// Returns whether digits are a length; digits of literals ("Li128E"), of substitutions ("S5_", "T_") and of types
// ("DF16_") are not.
bool is_length(std::string_view name, size_t at) {
  const char before = at > 0 ? name[at - 1] : '_';
  const char before_that = at > 1 ? name[at - 2] : '_';
  if (before == 'S' || before == 'T' || (before_that == 'D' && (before == 'F' || before == 'v'))) return false;
  return !(before_that == 'L' && is_lower(before));
}

// Takes the identifier whose length begins at `at`, and moves `at` behind it; empty: there is none, and `at` is behind
// the digits. Also takes an identifier that is cut short.
std::string_view take_identifier(std::string_view name, size_t& at) {
  const bool length_begins = is_length(name, at);
  size_t length = 0;
  for (; at < name.size() && is_digit(name[at]); ++at) length = std::min(length * 10 + (name[at] - '0'), name.size());
  const std::string_view text = name.substr(at, length);
  if (!length_begins || text.empty() || is_digit(text.front()) || !std::ranges::all_of(text, is_in_identifier))
    return {};
  at += text.size();
  return text;
}

void append(std::string& names, std::string_view name) {
  if (name.starts_with("_GLOBAL_")) return;
  names.append(names.empty() ? "" : "::").append(name);
}

KernelName parts_of_mangled(std::string_view name) {
  KernelName parts;
  bool own = true;
  for (size_t at = 2; at < name.size();) {
    if (!is_digit(name[at])) {
      // Template arguments begin, or the name ends and parameters follow.
      if ((name[at] == 'I' || name[at] == 'E') && !parts.own.empty()) own = false;
      ++at;
      continue;
    }
    const std::string_view identifier = take_identifier(name, at);
    if (!identifier.empty()) append(own ? parts.own : parts.arguments, identifier);
    if (own && !parts.own.empty() && !name.starts_with("_ZN")) own = false;
  }
  return parts;
}

// ---- demangled names

class PlainParts {
 public:
  KernelName of(std::string_view name) {
    const bool has_signature = name.find_first_of("<(") != name.npos;
    for (size_t at = 0; at < name.size();) {
      if (name.substr(at).starts_with(kAnonymous)) {
        at += kAnonymous.size();
        continue;
      }
      take(name[at++], has_signature);
    }
    return std::move(parts_);
  }

 private:
  void take(char c, bool has_signature) {
    if (c == '<' || c == '(') in_parameters_ |= depth_++ == 0 && c == '(' && !parts_.own.empty();
    const bool own = depth_ == 0 && !in_parameters_;
    if ((c == '>' || c == ')') && depth_ > 0) --depth_;
    if (own && c == ' ' && has_signature)
      parts_.own.clear();  // it was the type of the result
    else
      (own ? parts_.own : parts_.arguments) += c;
  }

  KernelName parts_;
  int depth_ = 0;
  bool in_parameters_ = false;
};

}  // namespace

WordText::WordText(std::string_view text) : lower_(text), bounds_(text.size() + 1) {
  for (char& c : lower_) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
  bounds_.front() = bounds_.back() = true;
  for (size_t i = 1; i < text.size(); ++i) bounds_[i] = is_bound(text[i - 1], text[i], at(i + 1));
}

WordText::Piece WordText::piece_of(std::string_view pattern) {
  Piece piece;
  piece.free_begin = pattern.starts_with('*');
  if (piece.free_begin) pattern.remove_prefix(1);
  piece.free_end = pattern.ends_with('*');
  piece.before_digit = pattern.ends_with('#');
  if (piece.free_end || piece.before_digit) pattern.remove_suffix(1);
  piece.text = pattern;
  return piece;
}

bool WordText::fits(const Piece& piece, size_t at) const {
  const size_t end = at + piece.text.size();
  return (piece.free_begin || bounds_[at]) && (piece.free_end || bounds_[end]) &&
         (!piece.before_digit || (end < lower_.size() && is_digit(lower_[end])));
}

bool WordText::has(std::string_view lower) const {
  const Piece piece = piece_of(lower);
  for (size_t at = lower_.find(piece.text); at != lower_.npos; at = lower_.find(piece.text, at + 1))
    if (fits(piece, at)) return true;
  return false;
}

bool WordText::begins_with(std::string_view lower) const {
  const Piece piece = piece_of(lower);
  return lower_.starts_with(piece.text) && fits(piece, 0);
}

KernelName kernel_name_parts(std::string_view name) {
  const bool mangled =
      name.starts_with("_Z") && name.size() > 2 && (name[2] == 'N' || name[2] == 'L' || is_digit(name[2]));
  return mangled ? parts_of_mangled(name) : PlainParts().of(name);
}

}  // namespace rung::trace
