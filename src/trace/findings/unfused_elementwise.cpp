// Norms, activations and rotations in several kernels, which read and write what one kernel would keep in registers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/attention_chains.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

constexpr size_t kLeastPieces = 4;  // every eager model has a sum and a norm, or an activation between products

// Excludes work that a compiler has fused, and copies that only change an order, which are another finding.
bool is_piece(const Analysis& analysis, const Work& work) {
  if (!is_small_step(work) || work.kind.library == "Triton") return false;
  if (analysis.event(work).kind != EventKind::kernel || is_format_kernel(analysis.name(work))) return false;
  if (work.op == kNone) return !is_strided_copy_kernel(analysis.name(work));
  const auto copy = tensor_copy_of(analysis, work);
  return !copy || (!copy->is_reordered && !copy->is_expanded);
}

// Returns whether a run is a chain; one operation repeated is not, such as a benchmark that clears memory.
bool is_chain(const Analysis& analysis, const std::vector<size_t>& run) {
  constexpr size_t kLeastOperations = 3;
  std::set<std::string> labels;
  for (const size_t i : run) labels.insert(label_of(analysis, analysis.work[i]));
  return run.size() >= kLeastPieces && labels.size() >= kLeastOperations;
}

std::vector<std::vector<size_t>> chains_of_pieces(const Analysis& analysis) {
  const std::vector<bool> inside = work_in(analysis, attention_chains(analysis, products_of(analysis)));
  std::vector<std::vector<size_t>> runs(1);
  std::optional<size_t> step;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const auto now = step_at(analysis, analysis.event(analysis.work[i]).start_ns);
    const bool is_next = !inside[i] && is_piece(analysis, analysis.work[i]);
    if (!runs.back().empty() && (!is_next || now != step)) runs.emplace_back();
    if (is_next) runs.back().push_back(i);
    step = now;
  }
  std::erase_if(runs, [&](const std::vector<size_t>& run) { return !is_chain(analysis, run); });
  return runs;
}

// Reads the run's largest tensor once, in its narrowest type, and writes it once unless a sum ends the run.
Demand demand_of_run(const Analysis& analysis, const std::vector<size_t>& run) {
  int64_t most = 0;
  int bytes = 0;
  for (const size_t i : run) {
    if (analysis.work[i].op == kNone) return {};
    for (const CallOperand& operand : operands_of(analysis.recording, analysis.recording.events[analysis.work[i].op])) {
      const int64_t elements = stored_elements_of(operand);
      const int size = bytes_of(operand.type);
      if (size == 0 || elements < most) continue;
      bytes = elements > most || bytes == 0 ? size : std::min(bytes, size);
      most = elements;
    }
  }
  const bool ends_in_sum = analysis.work[run.back()].kind.category == KernelCategory::reduction;
  return {0, (ends_in_sum ? 1.0 : 2.0) * double(most) * bytes};
}

int64_t shortest_of(const Analysis& analysis, const std::vector<size_t>& run) {
  int64_t shortest = INT64_MAX;
  for (const size_t i : run) shortest = std::min(shortest, analysis.event(analysis.work[i]).duration_ns);
  return shortest;
}

}  // namespace

std::optional<TraceFinding> unfused_elementwise(const Analysis& analysis) {
  const CardPeaks* peaks = peaks_of(analysis);
  Saving saving(analysis);
  Tally tally;
  int64_t pieces = 0;
  for (const std::vector<size_t>& run : chains_of_pieces(analysis)) {
    const int64_t needed = floor_ns(peaks, demand_of_run(analysis, run));
    saving.replace(run, std::max(needed, shortest_of(analysis, run)));
    tally.add(sequence_of(analysis, run), duration_of(analysis, run));
    pieces += static_cast<int64_t>(run.size());
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "unfused_elementwise";
  finding.title =
      fmt::format("{} kernels of a step, {}, in chains ({}) that could be one kernel each",
                  count_in_words(per_step(analysis, pieces)), duration_ms(ms_per_step(analysis, tally.ns())),
                  count_in_words(per_step(analysis, tally.count())));
  finding.evidence = tally.rows();
  saving.give_bound(
      finding,
      "time of the chains, less one kernel for each: the largest tensor read and written once, or its shortest kernel");
  finding.remedy = "Use the fused operation of the framework, or let a compiler fuse the chain.";
  finding.changes = {
      {"PyTorch",
       "torch.nn.functional.rms_norm and layer_norm in place of pow, mean, rsqrt and mul; torch.compile for the rest "
       "(mode \"default\"; TORCHINDUCTOR_COORDINATE_DESCENT_TUNING=1 tunes its tiles); rotation tables computed once, "
       "outside the step"},
      {"vLLM",
       "RMSNorm with its residual, SiluAndMul, GeluAndMul and rotary embedding of vllm.model_executor.layers; "
       "--compilation-config '{\"custom_ops\": [\"+rms_norm\", \"+silu_and_mul\"]}' prefers its kernels to "
       "Inductor's; on ROCm VLLM_ROCM_USE_AITER=1 with VLLM_ROCM_USE_AITER_RMSNORM=1"},
  };
  finding.traps =
      "A fused norm sums in f32 and rounds once: outputs differ in the last bit from pieces that round between. "
      "max-autotune compiles for minutes and can lose; measure it against the default mode. Inductor's own graphs "
      "(reduce-overhead) have been slow on ROCm: capture by hand.";
  finding.confirm =
      "Fewer kernels between two products, and their sum is shorter; compare outputs within the type's error.";
  return finding;
}

}  // namespace rung::trace::findings
