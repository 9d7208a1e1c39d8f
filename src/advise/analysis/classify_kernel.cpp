// The rules are taken apart once; a name is then searched for plain pieces.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "advise/analysis/category.hpp"

namespace rung::advise {
namespace {

struct Piece {
  std::string_view text;
  bool at_begin = false;
};

struct Alternative {
  KernelClass kind;
  std::vector<Piece> pieces;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool fits(char wanted, char got) { return wanted == got || (wanted == '#' && is_digit(got)); }

bool is_at_begin(std::string_view name, std::string_view piece) {
  return name.size() >= piece.size() && std::equal(piece.begin(), piece.end(), name.begin(), fits);
}

bool is_inside(std::string_view name, std::string_view piece) {
  if (piece.find('#') == std::string_view::npos) return name.find(piece) != std::string_view::npos;
  return std::search(name.begin(), name.end(), piece.begin(), piece.end(),
                     [](char got, char wanted) { return fits(wanted, got); }) != name.end();
}

// Calls take(part) for each part of `text` between separators.
template <class F>
void split(std::string_view text, char separator, const F& take) {
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    take(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
}

void add_rule(std::vector<Alternative>& alternatives, KernelClass kind, std::string_view pattern) {
  split(pattern, '|', [&](std::string_view alternative) {
    std::vector<Piece>& pieces = alternatives.emplace_back(Alternative{kind, {}}).pieces;
    split(alternative, '&', [&](std::string_view piece) {
      const bool at_begin = piece.starts_with('^');
      pieces.push_back({piece.substr(at_begin ? 1 : 0), at_begin});
    });
  });
}

const std::vector<Alternative>& all_alternatives() {
  static const std::vector<Alternative> alternatives = [] {
    std::vector<Alternative> made;
#define RUNG_KERNEL_RULE(category, library, pattern) add_rule(made, {Category::category, library}, pattern);
#include "advise/analysis/kernel_rules.inc"
#undef RUNG_KERNEL_RULE
    return made;
  }();
  return alternatives;
}

// Without what a compiler puts before the name: a function's "void ", "_Z17" of one in no namespace.
std::string_view without_prefix(std::string_view name) {
  if (name.starts_with("void ")) return name.substr(5);
  if (!name.starts_with("_Z") || name.size() < 3 || !is_digit(name[2])) return name;
  name.remove_prefix(2);
  while (!name.empty() && is_digit(name.front())) name.remove_prefix(1);
  return name;
}

}  // namespace

KernelClass classify_kernel(std::string_view name) {
  const std::string_view begin = without_prefix(name);
  const auto holds = [&](const Piece& piece) {
    return piece.at_begin ? is_at_begin(begin, piece.text) : is_inside(name, piece.text);
  };
  for (const Alternative& alternative : all_alternatives())
    if (std::ranges::all_of(alternative.pieces, holds)) return alternative.kind;
  return {};
}

}  // namespace rung::advise
