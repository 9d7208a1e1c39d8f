// Sums up device time and host launch time that disappear.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/saving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/profiler_cost.hpp"

namespace rung::trace {
namespace {

// A launching thread: the end of its last launch, and the time that it spent in other calls since.
struct Launcher {
  int64_t since_ns = INT64_MAX, elsewhere_ns = 0;
};

// Returns the host's time for a launch, and restarts the launcher. The time of the first launch is unknown.
int64_t launch_ns(Launcher& launcher, const Event& call) {
  const int64_t spent = call.end_ns() - launcher.since_ns - launcher.elsewhere_ns;
  const bool is_first = launcher.since_ns == INT64_MAX;
  launcher = {call.end_ns(), 0};
  return is_first ? 0 : std::max<int64_t>(spent, 0);
}

// Returns the work that each runtime call launched; a graph's replay, which launches several pieces, gets the number of
// all work.
std::unordered_map<uint32_t, size_t> work_by_call(const Analysis& analysis) {
  std::unordered_map<uint32_t, size_t> found;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    if (analysis.work[i].call == kNone) continue;
    const auto [at, first] = found.emplace(analysis.work[i].call, i);
    if (!first) at->second = analysis.work.size();
  }
  return found;
}

int64_t standstill_ns(const Analysis& analysis) {
  int64_t sum = 0;
  for (const Gap& gap : analysis.accounting.gaps)
    if (gap.cause != GapCause::lost && (gap.cause != GapCause::device || gap.after_late_launch))
      sum += gap.span.length_ns();
  return sum;
}

}  // namespace

std::vector<int64_t> host_ns_of_work(const Analysis& analysis) {
  std::vector<int64_t> spent(analysis.work.size());
  const std::unordered_map<uint32_t, size_t> works = work_by_call(analysis);
  const double own_share = held_host(analysis.whole()).own_share;
  std::map<uint16_t, Launcher> launchers;
  const std::vector<Event>& events = analysis.recording.events;
  for (uint32_t i = 0; i < events.size(); ++i) {
    Launcher& launcher = launchers[events[i].lane];
    // host time between two steps counts for no launch
    if (events[i].kind == EventKind::range && analysis.recording.name_of(events[i]).starts_with("ProfilerStep"))
      launcher = {events[i].start_ns, 0};
    if (events[i].kind != EventKind::runtime_call) continue;
    const auto work = works.find(i);
    if (work == works.end()) {
      launcher.elsewhere_ns += events[i].duration_ns;
      continue;
    }
    const auto ns = static_cast<double>(launch_ns(launcher, events[i]));
    if (work->second < spent.size()) spent[work->second] = std::llround(ns * own_share);
  }
  return spent;
}

Saving::Saving(const Analysis& analysis) : analysis_(analysis) {}

Saving::Cost Saving::cost_of(size_t work) {
  if (host_ns_.empty()) {
    std::optional<std::vector<int64_t>>& known = derived(analysis_).host_ns_of_work;
    if (!known) known = host_ns_of_work(analysis_);
    host_ns_ = *known;
    pause_ns_.resize(analysis_.work.size());
    for (const Gap& gap : analysis_.accounting.gaps)
      if (gap.cause == GapCause::device && !gap.after_late_launch && gap.after < pause_ns_.size())
        pause_ns_[gap.after] = gap.span.length_ns();
  }
  return {analysis_.event(analysis_.work[work]).duration_ns + pause_ns_[work], host_ns_[work]};
}

void Saving::lose(Cost cost) {
  const int64_t device = std::max<int64_t>(cost.device_ns, 0);
  device_ns_ += device;
  host_over_device_ns_ += std::max<int64_t>(cost.host_ns - device, 0);
}

void Saving::replace(std::span<const size_t> work, int64_t kept_ns) {
  Cost all{-kept_ns, 0};
  int64_t dearest = 0, shortest_pause = INT64_MAX;
  for (const size_t i : work) {
    const Cost cost = cost_of(i);
    all.device_ns += cost.device_ns;
    all.host_ns += cost.host_ns;
    dearest = std::max(dearest, cost.host_ns);
    shortest_pause = std::min(shortest_pause, pause_ns_[i]);
  }
  if (!work.empty()) lose({all.device_ns - shortest_pause, all.host_ns - dearest});
}

void Saving::remove(size_t work) { lose(cost_of(work)); }

void Saving::shorten(int64_t ns) { lose({ns, 0}); }

// Returns the factor of device time under a lasting load.
double Saving::load() {
  if (load_) return *load_;
  const int64_t busy = analysis_.whole().accounting.busy_ns;
  const CardPeaks* peaks = peaks_of(analysis_);
  double flops = 0;
  const std::vector<Product>& products = products_of(analysis_);
  for (const Product& product : products)
    if (is_narrow(product.type())) flops += product.flops();
  const bool is_light =
      peaks && !products.empty() &&
      flops < kHeavyShare * peaks->narrow_tflops * 1e3 * static_cast<double>(analysis_.accounting.busy_ns);
  load_ = is_light || busy >= kShortRecordingNs ? 1 : kLastingLoad;
  return *load_;
}

double Saving::device_ms() const { return ms_per_step(analysis_, device_ns_); }

// Returns 0 if launches are lost: an idle device may have been busy with them.
double Saving::host_ms() const {
  if (analysis_.launches.are_lost()) return 0;
  return ms_per_step(analysis_, std::min(host_over_device_ns_, standstill_ns(analysis_)));
}

double Saving::bound_ms() { return std::min(device_ms() + host_ms(), step_ms(analysis_)); }

double Saving::loaded_bound_ms() { return device_ms() * load() + host_ms(); }

void Saving::give_bound(TraceFinding& finding, std::string_view how) {
  finding.bound_ms = bound_ms();
  finding.bound_from = how;
  if (host_ms() > 0)
    finding.bound_from += fmt::format(", {}, and {} of the host's launches while the device stood still",
                                      duration_ms(device_ms()), duration_ms(host_ms()));
  if (device_ms() + host_ms() > finding.bound_ms) finding.bound_from += "; no more than the step";
  if (load() <= 1) return;
  finding.loaded_bound_ms = loaded_bound_ms();
  finding.bound_from +=
      fmt::format("; up to {} where clocks fall under a load that lasts ({:g} times the device's part)",
                  duration_ms(finding.loaded_bound_ms), load());
}

}  // namespace rung::trace
