// Joins names and times of several pieces of work.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "trace/findings/kernels.hpp"

namespace rung::trace {

std::string sequence_of(const Analysis& analysis, std::span<const size_t> work) {
  constexpr size_t kMostNames = 8;
  std::vector<std::pair<std::string, int>> names;
  for (const size_t i : work) {
    std::string label = label_of(analysis, analysis.work[i]);
    if (!names.empty() && names.back().first == label)
      ++names.back().second;
    else
      names.emplace_back(std::move(label), 1);
  }
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += fmt::format("{}{}{}", i ? " + " : "", names[i].second > 1 ? fmt::format("{} ", names[i].second) : "",
                        names[i].first);
  return names.size() > kMostNames ? text + " + ..." : text;
}

int64_t duration_of(const Analysis& analysis, std::span<const size_t> work) {
  int64_t ns = 0;
  for (const size_t i : work) ns += analysis.event(analysis.work[i]).duration_ns;
  return ns;
}

std::vector<size_t> indices(size_t first, size_t last) {
  std::vector<size_t> all(last - first + 1);
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace rung::trace
