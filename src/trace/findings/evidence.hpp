// Functions that findings share: sums by name as evidence, figures of one step, times in words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "trace/findings/trace_finding.hpp"

namespace rung::trace {

using words::duration_ms, words::percent;

constexpr double ms_of(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// Returns milliseconds per step: a sum over all steps, divided by their number.
inline double ms_per_step(const Analysis& analysis, int64_t ns) { return ms_of(ns) / analysis.step_count(); }
double per_step(const Analysis& analysis, int64_t count);
double step_ms(const Analysis& analysis);

// A bound below 1 % of a step is no finding: other findings, or noise, are larger.
inline constexpr double kLeastShare = 0.01;
bool is_worthwhile(const Analysis& analysis, double bound_ms);

// Returns "4" or "1.5", as for "1.5 aten::item": without decimals if the count is whole.
std::string count_in_words(double count);

// Returns the step that contains a moment; none between steps. If nothing repeats, the whole recording is step 0.
std::optional<size_t> step_at(const Analysis& analysis, int64_t ns);
// Returns whether the host is in a step, which the device may begin later.
bool is_host_at_step(const Analysis& analysis, int64_t ns);

// Counts and times, by name.
class Tally {
 public:
  void add(std::string_view event, int64_t ns) { add(event, 1, ns); }
  void add(const Tally& other);
  int64_t count() const { return count_; }
  int64_t ns() const { return ns_; }
  bool empty() const { return count_ == 0; }
  // Returns rows, the longest first; merges all rows beyond `most` into one: "others (12 kinds)".
  std::vector<Evidence> rows(size_t most = 6) const;

 private:
  void add(std::string_view event, int64_t count, int64_t ns);

  struct Sum {
    int64_t count = 0, ns = 0;
  };
  std::map<std::string, Sum, std::less<>> sums_;
  int64_t count_ = 0, ns_ = 0;
};

// Returns the time that any of the spans covers, in order and apart.
std::vector<Span> union_of(std::vector<Span> spans);
int64_t length_of(const std::vector<Span>& apart);
// Takes spans that are in order and apart.
std::vector<Span> intersection_of(const std::vector<Span>& a, const std::vector<Span>& b);

}  // namespace rung::trace
