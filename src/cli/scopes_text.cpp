// Prints scopes as an indented tree, and layers that are alike once.
// SPDX-License-Identifier: Apache-2.0
#include "cli/scopes_text.hpp"

#include <algorithm>
#include <cctype>

#include "base/words.hpp"

namespace rung::cli {
namespace {

using tasks::Scope;
using tasks::ScopedLaunch;
using tasks::ScopedOp;

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
}

// Returns a product's own name ("q_proj"), which says more than its op; of others the op.
std::string name_of(const ScopedOp& op) {
  const bool is_product = op.op == "matmul" || op.op == "linear" || op.op == "conv";
  const std::string last = op.label.substr(op.label.rfind('.') + 1);
  return is_product && !last.empty() ? last : op.op;
}

// Returns "square, reduce, mul x 2".
std::string took_words(const ScopedLaunch& launch) {
  std::vector<std::pair<std::string, int>> runs;
  for (const ScopedOp& op : launch.took) {
    std::string name = name_of(op);
    if (!runs.empty() && runs.back().first == name)
      ++runs.back().second;
    else
      runs.emplace_back(std::move(name), 1);
  }
  std::vector<std::string> words;
  for (const auto& [name, times] : runs) words.push_back(times == 1 ? name : fmt::format("{} x {}", name, times));
  return words.empty() ? "(added)" : fmt::format("{}", fmt::join(words, ", "));
}

std::string inside(const Scope& scope, size_t depth);

// Returns the lines of scopes[first] and how many after it are alike.
std::pair<std::string, size_t> one_or_more(const std::vector<Scope>& scopes, size_t first, size_t depth) {
  std::string body = inside(scopes[first], depth + 1);
  size_t alike = 0;
  if (is_number(scopes[first].name))
    while (first + alike + 1 < scopes.size() && is_number(scopes[first + alike + 1].name) &&
           inside(scopes[first + alike + 1], depth + 1) == body)
      ++alike;
  const Scope& scope = scopes[first];
  const std::string name =
      alike == 0 ? scope.name : fmt::format("{} to {}, each", scope.name, scopes[first + alike].name);
  return {fmt::format("{:{}}{}: {} from {}\n{}", "", 2 * depth, name,
                      words::counted(scope.all_launches(), "launch", "launches"), words::counted(scope.all_ops(), "op"),
                      body),
          alike};
}

std::string inside(const Scope& scope, size_t depth) {
  std::string text;
  for (const ScopedLaunch& launch : scope.launches)
    text += fmt::format("{:{}}{:<28} {:<16} {}\n", "", 2 * depth, launch.kernel, launch.type, took_words(launch));
  for (size_t i = 0; i < scope.scopes.size(); ++i) {
    const auto [lines, alike] = one_or_more(scope.scopes, i, depth);
    text += lines;
    i += alike;
  }
  return text;
}

}  // namespace

std::string scopes_text(const Scope& whole) {
  return fmt::format("{} from {}\n{}", words::counted(whole.all_launches(), "launch", "launches"),
                     words::counted(whole.all_ops(), "op"), inside(whole, 0));
}

}  // namespace rung::cli
