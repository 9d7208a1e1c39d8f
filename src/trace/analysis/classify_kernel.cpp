// Parses the rules once; then searches each name for their pieces.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "trace/analysis/category.hpp"
#include "trace/analysis/inductor_name.hpp"
#include "trace/analysis/kernel_name.hpp"

namespace rung::trace {
namespace {

enum class Where : uint8_t { own, begin, arguments };
struct Piece {
  std::string_view text;
  Where where = Where::own;
};

struct Alternative {
  KernelClass kind;
  std::vector<Piece> pieces;
};

// Calls take(part) for each part of `text` between separators.
template <class F>
void split(std::string_view text, char separator, const F& take) {
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    take(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
}

Piece piece_of(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), Where::begin};
  if (text.starts_with('<')) return {text.substr(1), Where::arguments};
  return {text, Where::own};
}

void add_rule(std::vector<Alternative>& alternatives, KernelClass kind, std::string_view pattern) {
  split(pattern, '|', [&](std::string_view alternative) {
    std::vector<Piece>& pieces = alternatives.emplace_back(Alternative{kind, {}}).pieces;
    split(alternative, '&', [&](std::string_view piece) { pieces.push_back(piece_of(piece)); });
  });
}

const std::vector<Alternative>& all_alternatives() {
  static const std::vector<Alternative> alternatives = [] {
    std::vector<Alternative> made;
#define RUNG_KERNEL_RULE(category, library, pattern) add_rule(made, {KernelCategory::category, library}, pattern);
#include "trace/analysis/kernel_rules.inc"
#undef RUNG_KERNEL_RULE
    return made;
  }();
  return alternatives;
}

}  // namespace

KernelClass classify_kernel(std::string_view name) {
  const KernelName parts = kernel_name_parts(name);
  if (is_inductor_copy(parts.own)) return {KernelCategory::copy, "Triton"};
  const WordText own(parts.own), arguments(parts.arguments);
  const auto holds = [&](const Piece& piece) {
    if (piece.where == Where::begin) return own.begins_with(piece.text);
    return (piece.where == Where::own ? own : arguments).has(piece.text);
  };
  for (const Alternative& alternative : all_alternatives())
    if (std::ranges::all_of(alternative.pieces, holds)) return alternative.kind;
  return {};
}

}  // namespace rung::trace
