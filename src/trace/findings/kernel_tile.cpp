// Finds the two numbers in each library's form of a name.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/kernel_tile.hpp"

#include <array>
#include <charconv>

namespace rung::trace {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// Takes the number at the start of the text; 0: there is none.
int64_t take_number(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number <= 0) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// Reads "128x64..." or "128, 64...".
std::optional<KernelTile> pair_at(std::string_view text, std::string_view between) {
  KernelTile tile;
  tile.first = take_number(text);
  if (tile.first == 0 || !text.starts_with(between)) return std::nullopt;
  text.remove_prefix(between.size());
  tile.second = take_number(text);
  return tile.second == 0 ? std::nullopt : std::optional(tile);
}

// Returns the first pair "_128x64" after a word, which is the tile; a pair before the word is the instruction's shape.
std::optional<KernelTile> pair_behind(std::string_view kernel, std::string_view word) {
  size_t at = kernel.find(word);
  if (at == kernel.npos) return std::nullopt;
  for (at = kernel.find('_', at + word.size()); at != kernel.npos; at = kernel.find('_', at + 1))
    if (const auto tile = pair_at(kernel.substr(at + 1), "x")) return tile;
  return std::nullopt;
}

struct Form {
  std::string_view before, between;
};
constexpr std::array<Form, 3> kForms{{{"_MT", "x"}, {"tilesize", "x"}, {"GemmShape<", ", "}}};

}  // namespace

std::optional<KernelTile> tile_of(std::string_view kernel) {
  for (const Form& form : kForms)
    if (const size_t at = kernel.find(form.before); at != kernel.npos)
      if (const auto tile = pair_at(kernel.substr(at + form.before.size()), form.between)) return tile;
  if (kernel.starts_with("nvjet")) return pair_behind(kernel, "nvjet");
  return pair_behind(kernel, "gemm");
}

bool is_wide_tile(std::string_view kernel) {
  const auto tile = tile_of(kernel);
  return tile && tile->narrower() >= kWideTile;
}

bool splits_inner_dimension(std::string_view kernel) {
  if (kernel.find("plitK") != kernel.npos || kernel.find("split_k") != kernel.npos) return true;
  for (const std::string_view word : {"_GSU", "_SK"})  // Tensile: the number of splits; stream-K tiles
    if (const size_t at = kernel.find(word); at != kernel.npos) {
      std::string_view number = kernel.substr(at + word.size());
      if (!number.empty() && is_decimal(number.front()) && take_number(number) > (word == "_GSU" ? 1 : 0)) return true;
    }
  return false;
}

}  // namespace rung::trace
