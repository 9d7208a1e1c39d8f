// Shared by detectors: sums by name as evidence, figures of one step, times in words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "trace/findings/advice.hpp"

namespace rung::trace {

using words::duration_ms, words::percent;

constexpr double ms_of(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// Milliseconds of one step: a sum over all steps, divided by their number.
inline double ms_per_step(const Analysis& analysis, int64_t ns) { return ms_of(ns) / analysis.step_count(); }
double per_step(const Analysis& analysis, int64_t count);
double step_ms(const Analysis& analysis);

// A bound below 1 % of a step is no advice: other findings, or noise, are larger.
inline constexpr double kLeastShare = 0.01;
bool is_worthwhile(const Analysis& analysis, double bound_ms);

// "4 aten::item", "1.5 aten::item": a whole number where it is one.
std::string count_in_words(double count);

// The step that holds a moment; none between steps. Where nothing repeats, the whole recording is step 0.
std::optional<size_t> step_at(const Analysis& analysis, int64_t ns);
// The host is at a step, which may be one that the device begins later.
bool is_host_at_step(const Analysis& analysis, int64_t ns);

// Counts and times by name.
class Tally {
 public:
  void add(std::string_view event, int64_t ns) { add(event, 1, ns); }
  void add(const Tally& other);
  int64_t count() const { return count_; }
  int64_t ns() const { return ns_; }
  bool empty() const { return count_ == 0; }
  // The longest first; all beyond `most` in one row "others (12 kinds)".
  std::vector<Evidence> rows(size_t most = 6) const;

 private:
  void add(std::string_view event, int64_t count, int64_t ns);

  struct Sum {
    int64_t count = 0, ns = 0;
  };
  std::map<std::string, Sum, std::less<>> sums_;
  int64_t count_ = 0, ns_ = 0;
};

// The time that any of the spans covers, in order and apart.
std::vector<Span> union_of(std::vector<Span> spans);
int64_t length_of(const std::vector<Span>& apart);
// Both in order and apart.
std::vector<Span> intersection_of(const std::vector<Span>& a, const std::vector<Span>& b);

}  // namespace rung::trace
