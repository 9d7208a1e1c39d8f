// The recorded steps compile, tune or load kernels, although everything should be ready.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/host_doings.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kTuningInRunRemedy =
    "Compile, tune and load before the first step that counts, for every shape that will come; keep the shapes few, by "
    "padding or by compiling for any length.";

struct Preparation {
  std::vector<Span> spans;
  Tally tally;
};

Preparation preparation_in_steps(const Analysis& analysis) {
  Preparation found;
  std::vector<Span> steps = analysis.steps.host;
  if (steps.empty()) steps = {analysis.accounting.wall};
  for (const uint32_t event : held_host(analysis).held.by(GapCause::compilation)) {
    const Event& held = analysis.recording.events[event];
    found.tally.add(analysis.recording.name_of(held),
                    length_of(intersection_of({{held.start_ns, held.end_ns()}}, steps)));
  }
  found.spans = preparation_spans(analysis);
  return found;
}

// Returns whether operations that launch work have other operands in one step than in another.
bool shapes_differ(const Analysis& analysis) {
  std::vector<std::set<std::pair<uint32_t, uint32_t>>> by_step(analysis.steps.spans.size());
  for (const Work& work : analysis.work) {
    const auto step = step_at(analysis, analysis.event(work).start_ns);
    if (work.op == kNone || !step || *step >= by_step.size()) continue;
    const Event& op = analysis.recording.events[work.op];
    if (op.kind == EventKind::host_op && op.detail != 0)
      by_step[*step].emplace(op.name, analysis.recording.operands[op.detail].shapes);
  }
  return std::ranges::any_of(by_step, [&](const auto& shapes) { return shapes != by_step.front(); });
}

}  // namespace

std::optional<TraceFinding> tuning_in_run(const Analysis& analysis) {
  const Preparation found = preparation_in_steps(analysis);
  const double bound_ms = std::min(ms_per_step(analysis, length_of(found.spans)), step_ms(analysis));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  return TraceFinding{
      .id = "tuning_in_run",
      .title = fmt::format("Kernels are compiled, tuned or loaded inside the steps: {} of each, {}{}",
                           duration_ms(bound_ms), percent(bound_ms / step_ms(analysis)),
                           shapes_differ(analysis.whole()) ? "; shapes differ from step to step" : ""),
      .evidence = found.tally.rows(8),
      .bound_ms = bound_ms,
      .bound_from =
          "the time of the launching thread inside these ranges and calls, nested ones once: all of it is over "
          "before the first step where everything is prepared",
      .remedy = kTuningInRunRemedy,
      .changes = {{"PyTorch",
                   "run each shape once before serving; torch.compile(dynamic=True) or "
                   "torch._dynamo.mark_dynamic(x, dim) for lengths that vary; TORCH_LOGS=recompiles names the guard "
                   "that failed"},
                  {"PyTorch",
                   "TORCHINDUCTOR_FX_GRAPH_CACHE=1 with TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR on a disk that "
                   "lasts; torch._dynamo.config.recompile_limit (cache_size_limit before 2.7) above the number of "
                   "shapes; "
                   "torch.compiler.save_cache_artifacts() for a fresh machine"},
                  {"PyTorch",
                   "tuned GEMMs: PYTORCH_TUNABLEOP_TUNING=0 with the tuned file in production; on ROCm "
                   "MIOPEN_FIND_MODE=FAST or a filled user database for convolutions"},
                  {"vLLM",
                   "compilation_config with compile_sizes and cudagraph_capture_sizes for what is served; keep "
                   "VLLM_CACHE_ROOT between starts"}},
      .traps =
          "max-autotune tunes for minutes and may hang on ROCm: do it once, elsewhere, and keep its cache. "
          "dynamic=True "
          "costs some speed of each kernel: pad to a few lengths where that is cheaper. Above its limit of "
          "recompilations Dynamo silently runs eagerly. A recording that begins too early shows warm-up: record later "
          "steps before believing this.",
      .confirm = "A trace of later steps has none of these ranges; the slowest of 1000 steps is near the median."};
}

}  // namespace rung::trace::findings
