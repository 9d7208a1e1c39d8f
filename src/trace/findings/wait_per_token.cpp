// The host reads each token before it launches the next step: the device waits for the host once a token.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/products.hpp"

namespace rung::trace::findings {
namespace {

constexpr int64_t kMostBytes = 64;  // of a token, or of those of a few texts
constexpr int64_t kTokenRows = 4;   // of products that make one token
// Kernels for products of one row.
constexpr std::string_view kTokenKernels[] = {"gemv", "Gemv", "GEMV", "wvSplitK", "LLMM"};

// Returns whether most of the products' time is for a few rows: by their sizes, or else by the names of kernels.
bool makes_tokens(const Analysis& analysis) {
  int64_t few = 0, all = 0;
  for (const Product& product : products_of(analysis)) {
    all += product.ns;
    if (product.m <= kTokenRows) few += product.ns;
  }
  if (all > 0) return 2 * few > all;
  for (const Work& work : analysis.work) {
    if (work.kind.category != KernelCategory::gemm) continue;
    const std::string_view kernel = analysis.name(work);
    const auto is_in = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
    all += analysis.event(work).duration_ns;
    if (std::ranges::any_of(kTokenKernels, is_in)) few += analysis.event(work).duration_ns;
  }
  return 2 * few > all;
}

bool is_token_copy(const Analysis& analysis, const Work& work) {
  const Event& event = analysis.event(work);
  if (event.kind != EventKind::copy) return false;
  const CopyShape& shape = analysis.recording.copies[event.detail];
  return shape.device_to_host && shape.bytes > 0 && shape.bytes <= kMostBytes;
}

// Returns the calls in which the host waits for the device, by start.
std::vector<uint32_t> waiting_calls(const Analysis& all) {
  const HeldHost& host = held_host(all).held;
  std::vector<uint32_t> calls;
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy})
    for (const uint32_t call : host.by(cause))
      if (host.waits(call)) calls.push_back(call);
  std::ranges::sort(calls, {}, [&](uint32_t call) { return all.recording.events[call].start_ns; });
  return calls;
}

// Returns the last of the calls to begin before that moment of the device, if it waits for it; kNone: it does not.
uint32_t wait_for(const Analysis& all, const std::vector<uint32_t>& calls, int64_t ns) {
  const auto after =
      std::ranges::upper_bound(calls, ns, {}, [&](uint32_t call) { return all.recording.events[call].start_ns; });
  if (after == calls.begin()) return kNone;
  const uint32_t call = *(after - 1);
  return all.recording.events[call].end_ns() >= ns ? call : kNone;
}

struct TokenWait {
  uint32_t call = kNone;
  size_t step = 0;
  int64_t idle_ns = 0;  // of the device, from the token's copy to the next work
};

// Returns the waits for a token behind which the host launches the next step at once.
std::vector<TokenWait> waits_for_tokens(const Analysis& all) {
  std::vector<TokenWait> waits;
  const std::vector<uint32_t> calls = waiting_calls(all);
  for (size_t i = 0; i + 1 < all.work.size(); ++i) {
    if (!is_token_copy(all, all.work[i])) continue;
    const int64_t read_ns = all.event(all.work[i]).end_ns();
    const uint32_t call = wait_for(all, calls, read_ns), next = all.work[i + 1].call;
    const auto step = step_at(all, all.event(all.work[i]).start_ns);
    if (call == kNone || next == kNone || !step) continue;
    const int64_t pause_ns = all.recording.events[next].start_ns - all.recording.events[call].end_ns();
    if (pause_ns < 0 || pause_ns > kLongestLaunchNs) continue;
    waits.push_back({call, *step, std::max<int64_t>(0, all.event(all.work[i + 1]).start_ns - read_ns)});
  }
  return waits;
}

}  // namespace

std::optional<TraceFinding> wait_per_token(const Analysis& analysis) {
  const Analysis& all = analysis.whole();
  const std::vector<TokenWait> waits = waits_for_tokens(all);
  std::set<size_t> steps;
  Tally tally;
  int64_t idle_ns = 0;
  for (const TokenWait& wait : waits) {
    steps.insert(wait.step);
    idle_ns += wait.idle_ns;
    tally.add(call_in_words(all, wait.call), wait.idle_ns);
  }
  if (2 * static_cast<double>(steps.size()) < all.step_count() || !makes_tokens(all)) return std::nullopt;
  const double bound_ms = std::min(ms_per_step(all, idle_ns), step_ms(analysis));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  std::vector<Evidence> evidence = tally.rows();
  for (Evidence& row : evidence) row.ms /= all.step_count();
  return TraceFinding{
      .id = "wait_per_token",
      .title = fmt::format("The host reads each token before it launches the next step: the device waits {} a token",
                           duration_ms(bound_ms)),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from = "the device's idle time from each token's copy to the host until the next work, over the steps",
      .remedy = "Let the device choose the token and read it as the next step's input; read several at once.",
      .changes =
          {{"PyTorch",
            "keep argmax or multinomial on the device and write the token into the next step's input with copy_(); "
            "launch a few steps, then read their tokens with one copy, and drop those behind the end of the text"},
           {"PyTorch", "no .item(), .tolist() or .cpu() on the token, and no if on it, in the loop"},
           {"vLLM", "--async-scheduling prepares the next step while the device works on this one"}},
      .traps =
          "Steps that are launched ahead of the token that ends the text are work for nothing: launch few. Stop "
          "strings and grammars that the host checks need each token. A streamed text comes in pieces of as many "
          "tokens as are read at once.",
      .confirm = "Time of a token without a profiler, before and after; the same seed gives the same text."};
}

}  // namespace rung::trace::findings
