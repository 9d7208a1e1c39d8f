// Attention in one kernel that is far slower than its sizes require, or that leaves most of the card idle.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/attention_chains.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/fused_attention.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

// The best known kernels with 128 elements a head take 1.3 to 2 times attainable_ns(); one with 40 elements, which
// computes 64, takes 3 times.
constexpr double kFarSlower = 4;
constexpr int64_t kLeastAttentionNs = 10'000;  // peaks do not apply to shorter ones
constexpr int64_t kLongForFewNs = 20'000;      // if only the grid is known
constexpr double kFewUnits = 0.25;             // of the card's units
constexpr int64_t kLongestFlashHead = 256;     // elements
constexpr std::string_view kMemoryEfficient = "PyTorch (memory-efficient)";

// All kernels of one operation: with split keys a second kernel joins the parts.
struct Attention {
  size_t main = 0;
  int64_t ns = 0;
};

std::vector<Attention> attentions_of(const Analysis& analysis) {
  const std::vector<bool> in_chain = work_in(analysis, attention_chains(analysis, products_of(analysis)));
  std::vector<Attention> all;
  std::unordered_map<uint32_t, size_t> by_op;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const Work& work = analysis.work[i];
    if (work.kind.category != KernelCategory::attention || in_chain[i]) continue;
    const int64_t ns = analysis.event(work).duration_ns;
    const auto known = work.op == kNone ? by_op.end() : by_op.find(work.op);
    if (known == by_op.end()) {
      if (work.op != kNone) by_op.emplace(work.op, all.size());
      all.push_back({i, ns});
      continue;
    }
    Attention& attention = all[known->second];
    attention.ns += ns;
    if (ns > analysis.event(analysis.work[attention.main]).duration_ns) attention.main = i;
  }
  return all;
}

// Returns whether a name shows f32, if operands do not: finding wide_dtype has those.
bool is_of_f32(std::string_view kernel) {
  return kernel.find("_f32_") != kernel.npos || kernel.find("<float") != kernel.npos;
}

class SlowAttention {
 public:
  SlowAttention(const Analysis& analysis, const CardPeaks& peaks) : analysis_(analysis), peaks_(peaks) {}

  // Returns the reason; empty: it is not slow, as far as the recording shows.
  std::string why(const Attention& attention, const std::optional<AttentionShapes>& shapes) const {
    const Work& work = analysis_.work[attention.main];
    if (attention.ns < kLeastAttentionNs) return {};
    if (shapes) return is_narrow(shapes->type) ? why_of(attention.ns, work, *shapes) : std::string();
    return is_of_f32(analysis_.name(work)) ? std::string() : few_blocks(attention.ns, work);
  }

 private:
  std::string why_of(int64_t ns, const Work& work, const AttentionShapes& shapes) const {
    const int64_t attainable = attainable_ns(&peaks_, shapes.all_pairs);
    if (attainable > 0 && static_cast<double>(ns) > kFarSlower * static_cast<double>(attainable)) {
      const std::string few = few_blocks(ns, work);
      return "far above its sizes' time" + (few.empty() ? "" : ", " + few);
    }
    const bool flash_takes_it =
        !shapes.is_masked && peaks_.narrow != Narrow::f16 && !peaks_.is_amd() && shapes.q.back() <= kLongestFlashHead;
    return work.kind.library == kMemoryEfficient && flash_takes_it ? "memory-efficient, without a mask" : "";
  }
  std::string few_blocks(int64_t ns, const Work& work) const {
    const auto grid = launch_of(analysis_, work).grid;
    const double blocks = double(grid[0]) * grid[1] * grid[2];
    if (blocks <= 0 || blocks > kFewUnits * peaks_.units || ns < kLongForFewNs) return {};
    return fmt::format("{:.0f} blocks on {} units", blocks, peaks_.units);
  }

  const Analysis& analysis_;
  const CardPeaks& peaks_;
};

std::string event_of(const Analysis& analysis, const Work& work, const std::optional<AttentionShapes>& shapes) {
  if (!shapes) return std::string(analysis.name(work));
  return fmt::format("{} {} on {}", analysis.name(work), shape_text(shapes->q), shape_text(shapes->k));
}

TraceFinding words_of_slow_attention() {
  TraceFinding finding;
  finding.id = "slow_attention";
  finding.remedy = "Choose another attention kernel for these shapes, above all one that splits the keys over blocks.";
  finding.changes = {
      {"PyTorch",
       "with torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, "
       "SDPBackend.EFFICIENT_ATTENTION]): time each alone at these shapes; flash takes no mask, flex_attention "
       "compiles one; few queries on long keys: flex_decoding, or keys split by hand and joined by their logarithms"},
      {"vLLM",
       "--attention-backend: FLASH_ATTN, FLASHINFER, TRITON_ATTN, on ROCm ROCM_AITER_FA with "
       "VLLM_ROCM_USE_AITER=1; time each"},
      {"AMD",
       "TORCH_ROCM_FA_PREFER_CK=1 takes Composable Kernel in place of AOTriton; aiter's assembly kernels want a head "
       "of 128 (or 192) and fall back to Composable Kernel otherwise"},
  };
  finding.traps =
      "Grouped heads that share keys make few blocks: fold the group into the queries' rows, which a kernel that "
      "knows groups does by itself. A mask keeps flash away and makes PyTorch choose the next one in silence. Pieces "
      "can be faster than one kernel for few queries. Sums run in another order.";
  finding.confirm = "The kernel's name and grid change and its time falls; compare outputs; the step in turns.";
  return finding;
}

}  // namespace

std::optional<TraceFinding> slow_attention(const Analysis& analysis) {
  const CardPeaks* peaks = peaks_of(analysis);
  if (!peaks) return std::nullopt;
  const SlowAttention slow(analysis, *peaks);
  Saving saving(analysis);
  Tally tally, with_shapes;
  int64_t attainable = 0;
  for (const Attention& attention : attentions_of(analysis)) {
    const Work& work = analysis.work[attention.main];
    const auto shapes = attention_shapes_of(analysis, work, 1);
    const std::string why = slow.why(attention, shapes);
    if (why.empty()) continue;
    saving.shorten(attention.ns - (shapes ? floor_ns(peaks, shapes->least) : 0));
    tally.add(fmt::format("{}: {}", event_of(analysis, work, shapes), why), attention.ns);
    if (!shapes) continue;
    with_shapes.add("", attention.ns);
    attainable += attainable_ns(peaks, shapes->all_pairs);
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding = words_of_slow_attention();
  finding.title =
      fmt::format("{} attention kernels of a step, {}, are slow for what they compute",
                  count_in_words(per_step(analysis, tally.count())), duration_ms(ms_per_step(analysis, tally.ns())));
  if (attainable > 0)
    finding.title += fmt::format(": {:.0f} times what the best known programs would take",
                                 double(with_shapes.ns()) / double(attainable));
  finding.evidence = tally.rows();
  saving.give_bound(finding,
                    "time above what operands and arithmetic need at the card's peaks; all of it where shapes are not "
                    "recorded");
  return finding;
}

}  // namespace rung::trace::findings
