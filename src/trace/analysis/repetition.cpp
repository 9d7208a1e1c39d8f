// Uses rare tokens as marks: at best they occur once per step. Tries the distances between them as lengths.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/repetition.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace rung::trace {
namespace {

using Tokens = std::vector<uint32_t>;

constexpr size_t kMarks = 16;         // tokens examined, the rarest first
constexpr size_t kMarksInOne = 8;     // of one token, in one repetition
constexpr size_t kMostSearched = 64;  // lengths tried

struct Mark {
  uint32_t token = 0;
  size_t count = 0;
};

bool covers(size_t part, size_t whole) { return part >= whole - whole / 5; }

// Returns tokens that occur at least twice, the rarest first.
std::vector<Mark> marks_of(const Tokens& tokens) {
  std::unordered_map<uint32_t, size_t> counts;
  for (const uint32_t token : tokens) ++counts[token];
  std::vector<Mark> marks;
  for (const auto& [token, count] : counts)
    if (count > 1) marks.push_back({token, count});
  std::ranges::sort(
      marks, [](const Mark& a, const Mark& b) { return a.count != b.count ? a.count < b.count : a.token < b.token; });
  marks.resize(std::min(marks.size(), kMarks));
  return marks;
}

std::vector<size_t> positions_of(const Tokens& tokens, uint32_t token) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] == token) positions.push_back(i);
  return positions;
}

// Returns distances between marks in the middle of the sequence, whose ends may differ, and at its start.
std::vector<size_t> lengths_to_try(const Tokens& tokens, const std::vector<Mark>& marks) {
  std::vector<size_t> lengths;
  for (const Mark& mark : marks) {
    const std::vector<size_t> at = positions_of(tokens, mark.token);
    for (size_t n = 1; n <= kMarksInOne && n < at.size(); ++n) {
      const size_t from = (at.size() - n) / 2;
      lengths.push_back(at[from + n] - at[from]);
      lengths.push_back(at[n] - at[0]);
    }
  }
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  lengths.resize(std::min(lengths.size(), kMostSearched));
  return lengths;
}

struct Run {
  size_t begin = 0, end = 0;
  size_t length() const { return end - begin; }
};

// Returns the longest part in which each token equals the one `length` before it.
Run longest_run(const Tokens& tokens, size_t length) {
  Run best, run;
  for (size_t i = 0; i + length < tokens.size(); ++i) {
    if (tokens[i] != tokens[i + length]) {
      run = {};
      continue;
    }
    if (run.end != i + length || run.length() == 0) run.begin = i;
    run.end = i + length + 1;
    if (run.length() > best.length()) best = run;
  }
  return best;
}

// Returns whether other tokens follow: one step of layers looks like many steps except for what follows the last.
bool ends_otherwise(const Tokens& tokens, const Run& steps) {
  const auto at = [&](size_t i) { return tokens.begin() + static_cast<ptrdiff_t>(i); };
  const std::unordered_set<uint32_t> inside(at(steps.begin), at(steps.end));
  return std::any_of(at(steps.end), tokens.end(), [&](uint32_t token) { return !inside.contains(token); });
}

// Returns the place in a repetition with the longest average pause before it.
size_t after_longest_pause(const std::vector<int64_t>& pauses, const Run& run, size_t length) {
  std::vector<double> sums(length, 0.0);
  std::vector<int> counts(length, 0);
  for (size_t i = run.begin; i < run.end; ++i) {
    const size_t at = (i - run.begin) % length;
    sums[at] += static_cast<double>(pauses[i]);
    ++counts[at];
  }
  for (size_t at = 0; at < length; ++at) sums[at] /= counts[at];
  return static_cast<size_t>(std::ranges::max_element(sums) - sums.begin());
}

std::vector<size_t> cuts_of(const Run& run, size_t length, size_t first) {
  std::vector<size_t> cuts;
  for (size_t at = run.begin + first; at <= run.end; at += length) cuts.push_back(at);
  return cuts;
}

std::vector<size_t> exact_cuts(const Tokens& tokens, const std::vector<Mark>& marks,
                               const std::vector<int64_t>& pauses) {
  for (const size_t length : lengths_to_try(tokens, marks)) {
    const Run run = longest_run(tokens, length);
    if (run.length() < 2 * length || !covers(run.length(), tokens.size())) continue;
    if (ends_otherwise(tokens, run)) continue;
    const bool whole = run.length() % length == 0;
    std::vector<size_t> cuts = cuts_of(run, length, whole ? 0 : after_longest_pause(pauses, run, length));
    return cuts.size() > 2 ? cuts : cuts_of(run, length, 0);
  }
  return {};
}

// Finds steps that differ slightly: a mark at distances that differ from the mean by less than a tenth.
std::vector<size_t> uneven_cuts(const Tokens& tokens, const std::vector<Mark>& marks) {
  for (const Mark& mark : marks) {
    std::vector<size_t> at = positions_of(tokens, mark.token);
    if (at.size() < 3 || !covers(at.back() - at.front(), tokens.size())) continue;
    const double mean = static_cast<double>(at.back() - at.front()) / static_cast<double>(at.size() - 1);
    bool even = true;
    for (size_t i = 1; i < at.size(); ++i) {
      const auto length = static_cast<double>(at[i] - at[i - 1]);
      even = even && length > 0.9 * mean && length < 1.1 * mean;
    }
    if (even && mean >= 2 && !ends_otherwise(tokens, {at.front(), at.back()})) return at;
  }
  return {};
}

}  // namespace

std::vector<size_t> find_repetitions(const Tokens& tokens, const std::vector<int64_t>& pauses) {
  const std::vector<Mark> marks = marks_of(tokens);
  std::vector<size_t> cuts = exact_cuts(tokens, marks, pauses);
  return cuts.empty() ? uneven_cuts(tokens, marks) : cuts;
}

}  // namespace rung::trace
