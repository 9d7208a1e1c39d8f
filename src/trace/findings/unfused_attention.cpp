// Attention in pieces where one kernel would suffice: scores and weights of every pair go through memory, some several
// times.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/attention_chains.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

const std::vector<Change> kFusedAttention{
    {"PyTorch",
     "torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=..., is_causal=..., enable_gqa=True where "
     "heads are grouped); torch.nn.attention.sdpa_kernel() names the backend; in Transformers "
     "attn_implementation=\"sdpa\" or \"flash_attention_2\""},
    {"vLLM",
     "attention of vLLM's own layers is fused; --attention-backend chooses it (FLASH_ATTN, FLASHINFER, TRITON_ATTN, "
     "on ROCm ROCM_AITER_FA, which wants VLLM_ROCM_USE_AITER=1)"},
    {"AMD", "aiter's flash attention, or FlashAttention for ROCm; prefill and decoding may want different ones"},
};

}  // namespace

std::optional<TraceFinding> unfused_attention(const Analysis& analysis) {
  const CardPeaks* peaks = peaks_of(analysis);
  Saving saving(analysis);
  Tally tally;
  int64_t pieces = 0, fallbacks = 0;
  for (const AttentionChain& chain : attention_chains(analysis, products_of(analysis))) {
    const std::vector<size_t> work = indices(chain.first, chain.last);
    saving.replace(work, floor_ns(peaks, chain.fused_demand()));
    tally.add(sequence_of(analysis, work), duration_of(analysis, work));
    pieces += static_cast<int64_t>(work.size());
    fallbacks += chain.is_fallback;
  }
  if (!is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "unfused_attention";
  finding.title = fmt::format(
      "{} kernels of a step, {}, compute attention by pieces, {} times", count_in_words(per_step(analysis, pieces)),
      duration_ms(ms_per_step(analysis, tally.ns())), count_in_words(per_step(analysis, tally.count())));
  if (fallbacks > 0) finding.title += ", some by scaled_dot_product_attention's own fallback";
  finding.evidence = tally.rows();
  saving.give_bound(finding,
                    "time of the pieces and of copies for them, less what one kernel needs at the card's peaks");
  finding.remedy = "Compute attention by one fused kernel, which keeps scores on the chip.";
  finding.changes = kFusedAttention;
  finding.traps =
      "scaled_dot_product_attention falls back to the same pieces for f32 with grouped heads, for types or head sizes "
      "that no fused kernel takes, and with a mask that needs a gradient; sdpa_kernel([...]) without MATH makes that "
      "an error. A fused kernel for few rows and a long context can be slower than the pieces on the device: compare "
      "both. Keep it in the compiled graph: a break around it costs more than it brings.";
  finding.confirm =
      "Kernels from the product to the second product become one of the category attention; time a step in turns with "
      "and without, and compare outputs: sums run in another order.";
  return finding;
}

}  // namespace rung::trace::findings
