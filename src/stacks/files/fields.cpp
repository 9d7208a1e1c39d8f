// Reads cells, numbers and words of tuning files.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace rung::stacks {
namespace {

constexpr size_t kShownBytes = 60;

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("+-")) return {};
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != separator || quoted) continue;
    cells.push_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  cells.push_back(line.substr(begin));
  return cells;
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"')) return text.substr(1, text.size() - 2);
  return text;
}

std::optional<int64_t> whole_number(std::string_view text) { return number_of<int64_t>(text); }

std::optional<double> real_number(std::string_view text) { return number_of<double>(text); }

std::optional<bool> truth_of(std::string_view text) {
  text = trimmed(text);
  if (text == "1" || text == "True" || text == "TRUE" || text == "true") return true;
  if (text == "0" || text == "False" || text == "FALSE" || text == "false") return false;
  return {};
}

std::string shown(std::string_view text) {
  std::string safe(text.substr(0, kShownBytes));
  for (char& c : safe)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return fmt::format("'{}{}'", safe, text.size() > kShownBytes ? "..." : "");
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower_letter(x) == lower_letter(y); });
}

}  // namespace rung::stacks
