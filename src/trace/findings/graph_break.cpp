// Finds a compiled model that is split into several regions, with eager work between them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/late_gaps.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kGraphBreakRemedy =
    "Compile the step as one graph: let what breaks it be an operation that the compiler knows, or one that is "
    "registered "
    "with it.";

// Names of regions, the surest first: Inductor's graphs as they run, else Dynamo's regions, which also contain code
// resumed after a break.
constexpr std::string_view kRegions[] = {"## Call CompiledFxGraph", "Torch-Compiled Region"};

// Returns ranges of launching threads whose names begin with `begin`: the outermost of nested ones, by start.
std::vector<Event> ranges_of(const Analysis& analysis, const HeldHost& host, std::string_view begin) {
  const Recording& recording = analysis.recording;
  std::vector<int8_t> known(recording.strings.size(), -1);  // by name: each is examined once
  std::unordered_map<uint16_t, int64_t> inside_until;       // by lane
  std::vector<Event> ranges;
  for (const Event& event : recording.events) {
    const bool named = event.kind == EventKind::host_op || event.kind == EventKind::range;
    if (!named || !host.launches(event.lane)) continue;
    if (known[event.name] < 0) known[event.name] = recording.name_of(event).starts_with(begin) ? 1 : 0;
    if (known[event.name] != 1) continue;
    int64_t& until = inside_until.try_emplace(event.lane, INT64_MIN).first->second;
    if (event.start_ns < until) continue;
    until = event.end_ns();
    ranges.push_back(event);
  }
  return ranges;
}

std::vector<Event> compiled_regions(const Analysis& analysis) {
  const HeldHost& host = held_host(analysis).held;
  for (const std::string_view begin : kRegions)
    if (std::vector<Event> regions = ranges_of(analysis, host, begin); !regions.empty()) return regions;
  return {};
}

// The time from one region's end to the next one's end, on one thread: work launched before the next begins is eager.
struct Between {
  int64_t from_ns, next_begins_ns, next_ends_ns;
  uint16_t lane;
};

std::vector<Between> between_regions(const std::vector<Event>& regions) {
  std::unordered_map<uint16_t, const Event*> last;
  std::vector<Between> found;
  for (const Event& region : regions) {
    const Event*& before = last[region.lane];
    if (before) found.push_back({before->end_ns(), region.start_ns, region.end_ns(), region.lane});
    before = &region;
  }
  return found;
}

struct Breaks {
  int64_t count = 0;
  int64_t gap_ns = 0;
  Tally eager;  // device time by operation
};

class BreakFinder {
 public:
  explicit BreakFinder(const Analysis& analysis) : analysis_(analysis), gap_before_(analysis.work.size()) {
    for (const GapCause cause : {GapCause::host_bound, GapCause::host_work})
      for (const LateGap& gap : late_gaps(analysis, cause))
        if (gap.after != kNone) gap_before_[gap.after] += gap.idle.length_ns();
    for (uint32_t i = 0; i < analysis.work.size(); ++i)
      if (analysis.work[i].call != kNone) launched_.push_back(i);
    std::ranges::stable_sort(launched_, {}, [this](uint32_t work) { return launch(work).start_ns; });
  }

  void look(const Between& between, Breaks& breaks) const {
    auto at =
        std::ranges::lower_bound(launched_, between.from_ns, {}, [this](uint32_t w) { return launch(w).start_ns; });
    int64_t gap_ns = 0;
    Tally eager;
    std::optional<size_t> step;
    for (; at != launched_.end() && launch(*at).start_ns < between.next_ends_ns; ++at) {
      if (launch(*at).lane != between.lane) continue;
      gap_ns += gap_before_[*at];
      const auto its_step = step_at(analysis_, analysis_.event(analysis_.work[*at]).start_ns);
      if (launch(*at).start_ns >=
          between.next_begins_ns) {  // the next region's first launch: same step as the eager work?
        if (step && its_step == step) take(gap_ns, eager, breaks);
        return;
      }
      step = its_step;
      eager.add(purpose_of(analysis_, analysis_.work[*at].call), analysis_.event(analysis_.work[*at]).duration_ns);
    }
  }

 private:
  const Event& launch(uint32_t work) const { return analysis_.recording.events[analysis_.work[work].call]; }
  static void take(int64_t gap_ns, const Tally& eager, Breaks& breaks) {
    ++breaks.count;
    breaks.gap_ns += gap_ns;
    breaks.eager.add(eager);
  }

  const Analysis& analysis_;
  std::vector<int64_t> gap_before_;  // by work
  std::vector<uint32_t> launched_;   // by launch
};

}  // namespace

std::optional<TraceFinding> graph_break(const Analysis& analysis) {
  const std::vector<Event> regions = compiled_regions(analysis);
  const BreakFinder finder(analysis);
  Breaks breaks;
  for (const Between& between : between_regions(regions)) finder.look(between, breaks);
  const double bound_ms = ms_per_step(analysis, breaks.gap_ns);
  if (breaks.count == 0 || !is_worthwhile(analysis, bound_ms)) return std::nullopt;
  std::vector<Evidence> evidence = breaks.eager.rows();
  Evidence& row = *evidence.insert(evidence.begin(), Evidence{"compiled regions", 0, 0});
  for (const Event& region : regions) {
    ++row.count;
    row.ms += ms_of(region.duration_ns);
  }
  std::string title = fmt::format("The compiled step is cut {} times, with eager work between the parts: {}",
                                  count_in_words(per_step(analysis, breaks.count)), evidence[1].event);
  return TraceFinding{
      .id = "graph_break",
      .title = std::move(title),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from =
          "the time for which the device waited for launches between a region's end and the next one's first "
          "launch",
      .remedy = kGraphBreakRemedy,
      .changes = {{"PyTorch",
                   "torch.compile(model, fullgraph=True) names the line that breaks the graph; TORCH_LOGS=graph_breaks "
                   "names all of them"},
                  {"PyTorch",
                   "F.scaled_dot_product_attention is compiled as it is; a kernel of another library becomes an "
                   "operation by torch.library.custom_op with register_fake; remove torch.compiler.disable"},
                  {"vLLM",
                   "the cut around attention is meant (splitting_ops) and costs least inside graphs: cudagraph_mode "
                   "FULL_AND_PIECEWISE or FULL in --compilation-config, where the attention backend can be captured"}},
      .traps =
          "One graph is no gain by itself where the device is the slower side, and the host may lose more in one large "
          "guards than it saves: on one small decoder joining 16 parts made a step 7 % slower. Two models that are "
          "compiled apart look like this too. Ranges of regions cost the host time themselves while the profiler runs.",
      .confirm =
          "One region per step in a new trace; time of a step without a profiler, before and after; outputs equal "
          "within tolerance."};
}

}  // namespace rung::trace::findings
