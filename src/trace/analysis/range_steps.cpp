// Looks at groups of ranges, the longest first: the first that holds most launches counts, unless it numbers parts.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/range_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace rung::trace {
namespace {

constexpr size_t kMostGroups = 8;      // groups of ranges examined
constexpr size_t kMostNameShown = 60;  // bytes
constexpr double kMostOfTheWork = 0.8;
constexpr double kMuchOfTheWork = 0.2;  // is enough if a name says that it is a step

// Words in names; the first kind overrules the second: "decoder step" is a step.
constexpr std::array<std::string_view, 10> kStepWords{"step",      "steps", "iter",    "iteration", "infer",
                                                      "inference", "frame", "request", "cycle",     "tick"};
constexpr std::array<std::string_view, 17> kPartWords{"layer",   "layers",  "block",    "blocks",  "stage",  "stages",
                                                      "head",    "heads",   "expert",   "experts", "module", "modules",
                                                      "encoder", "decoder", "encoders", "part",    "bucket"};

bool is_latin(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Splits "TransformerLayer" and "transformer.layers" into two lower-case words each.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_capital = name[i] >= 'A' && name[i] <= 'Z';
    const bool after_small = i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (!is_latin(name[i]) || (is_capital && after_small)) words.emplace_back();
    if (is_latin(name[i])) words.back() += static_cast<char>(is_capital ? name[i] - 'A' + 'a' : name[i]);
  }
  return words;
}

template <size_t count>
bool has_word_of(std::string_view name, const std::array<std::string_view, count>& words) {
  return std::ranges::any_of(words_of(name), [&](const std::string& w) { return std::ranges::count(words, w) > 0; });
}

std::string without_number(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return std::string(name);
}

struct Group {
  std::string name;
  std::vector<Span> spans;
  std::vector<std::string_view> numbers;  // one for each span
  double total_ns = 0;
};

// Compares the numbers at the ends of names by value.
bool is_less(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

// Returns the indices at which the numbers start again.
std::vector<size_t> passes_of(const Group& group) {
  std::vector<size_t> begins{0};
  for (size_t i = 1; i < group.numbers.size(); ++i)
    if (!is_less(group.numbers[i - 1], group.numbers[i])) begins.push_back(i);
  return begins;
}

bool is_of_parts(const Group& group) {
  if (has_word_of(group.name, kStepWords)) return false;
  const size_t passes = passes_of(group).size();
  const bool counts_again = passes > 1 && passes < group.spans.size();
  return counts_again || has_word_of(group.name, kPartWords);
}

// Returns each pass from its first part to its last. Parts without numbers do not show where a pass begins.
std::vector<Span> spans_of_passes(const Group& group) {
  const std::vector<size_t> begins = passes_of(group);
  if (begins.size() == group.spans.size()) return {};
  std::vector<Span> spans;
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : group.spans.size();
    spans.push_back({group.spans[begins[i]].start_ns, group.spans[end - 1].end_ns});
  }
  return spans;
}

std::vector<Group> groups_of_ranges(const Sources& from) {
  std::unordered_map<uint32_t, std::string> names;
  std::map<std::pair<uint16_t, std::string>, Group> groups;
  for (size_t i = 0; i < from.recording.events.size(); ++i) {
    const Event& event = from.recording.events[i];
    if (event.kind != EventKind::range) continue;
    const std::string_view name = from.recording.name_of(event);
    const auto [base, fresh] = names.try_emplace(event.name);
    if (fresh) base->second = without_number(name);
    const bool is_numbered = base->second.size() < name.size();
    if (is_numbered && from.around[i] != kNone && !has_word_of(base->second, kStepWords)) continue;
    Group& group = groups[{event.lane, base->second}];
    group.name = base->second;
    group.spans.push_back({event.start_ns, event.end_ns()});
    group.numbers.push_back(name.substr(base->second.size()));
    group.total_ns += static_cast<double>(event.duration_ns);
  }
  std::vector<Group> found;
  for (auto& [key, group] : groups)
    if (group.spans.size() > 1) found.push_back(std::move(group));
  std::ranges::stable_sort(found, std::greater{}, &Group::total_ns);
  found.resize(std::min(found.size(), kMostGroups));
  return found;
}

// Returns the share of the device's work, by duration, that was launched within the spans.
double share_launched_in(const std::vector<Span>& spans, const Sources& from) {
  double inside = 0, all = 0;
  for (size_t i = 0; i < from.device.work.size(); ++i) {
    const int64_t launch = from.device.launch[i];
    if (launch == kBeforeRecording) continue;
    const auto ns = static_cast<double>(from.recording.events[from.device.work[i].event].duration_ns);
    const size_t begun = begun_by(spans, launch);
    all += ns;
    if (begun > 0 && launch < spans[begun - 1].end_ns) inside += ns;
  }
  return all > 0 ? inside / all : 0;
}

}  // namespace

std::vector<Span> apart(const std::vector<Span>& spans) {
  std::vector<Span> kept;
  for (const Span& span : spans)
    if (kept.empty() || span.start_ns >= kept.back().end_ns) kept.push_back(span);
  return kept;
}

size_t begun_by(const std::vector<Span>& spans, int64_t ns) {
  return static_cast<size_t>(std::ranges::upper_bound(spans, ns, {}, &Span::start_ns) - spans.begin());
}

Steps range_steps(const Sources& from) {
  for (const Group& group : groups_of_ranges(from)) {
    const bool of_parts = is_of_parts(group);
    const std::vector<Span> spans = apart(of_parts ? spans_of_passes(group) : group.spans);
    const double wanted = has_word_of(group.name, kStepWords) ? kMuchOfTheWork : kMostOfTheWork;
    if (spans.empty() || share_launched_in(spans, from) < wanted) continue;
    const auto shown = std::string_view(group.name).substr(0, kMostNameShown);
    if (spans.size() > 1) return {.spans = spans, .found_by = fmt::format("ranges '{}'", shown)};
    return {.found_by = std::string(kOnePass)};
  }
  return {};
}

}  // namespace rung::trace
