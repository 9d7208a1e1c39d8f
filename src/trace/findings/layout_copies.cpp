// Copies that only change the order of elements in memory: contiguous(), reshape() of a transpose, NCHW to NHWC.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

bool is_matrix_work(const Work& work) {
  return work.kind.category == KernelCategory::gemm || work.kind.category == KernelCategory::attention;
}

// Without operations, the kernel's name shows a copy by strides, and its place shows that a product or attention reads
// or wrote the data.
bool is_beside_matrix_work(const Analysis& analysis, size_t i) {
  const auto is_copy = [&](size_t at) { return is_strided_copy_kernel(analysis.name(analysis.work[at])); };
  size_t before = i, after = i;
  while (before > 0 && is_copy(before)) --before;
  while (after + 1 < analysis.work.size() && is_copy(after)) ++after;
  return is_matrix_work(analysis.work[before]) || is_matrix_work(analysis.work[after]);
}

// Returns the name of the row of evidence; empty: no such copy.
std::string layout_copy_name(const Analysis& analysis, size_t i) {
  const Work& work = analysis.work[i];
  if (is_format_kernel(analysis.name(work))) return std::string(analysis.name(work));
  if (work.op == kNone)
    return is_strided_copy_kernel(analysis.name(work)) && is_beside_matrix_work(analysis, i)
               ? std::string(analysis.name(work))
               : std::string();
  const auto copy = tensor_copy_of(analysis, work);
  if (!copy || !copy->is_reordered) return {};
  for (const std::string_view way : {"aten::contiguous", "aten::reshape", "aten::flatten"})
    if (op_around(analysis, work, way) != kNone) return fmt::format("{} {}", way, shape_text(copy->to.shape));
  return fmt::format("aten::clone {}", shape_text(copy->to.shape));
}

}  // namespace

std::optional<TraceFinding> layout_copies(const Analysis& analysis) {
  Saving saving(analysis);
  Tally tally;
  bool is_format = false;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const std::string name = layout_copy_name(analysis, i);
    if (name.empty()) continue;
    is_format |= is_format_kernel(name);
    tally.add(name, analysis.event(analysis.work[i]).duration_ns);
    saving.remove(i);
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "layout_copies";
  finding.title =
      fmt::format("{} copies of a step, {}, only change the order of elements",
                  count_in_words(per_step(analysis, tally.count())), duration_ms(ms_per_step(analysis, tally.ns())));
  finding.evidence = tally.rows();
  saving.give_bound(finding, "time of the copies");
  finding.remedy = "Let kernels read strides, or keep one order from end to end.";
  finding.changes = {
      {"PyTorch",
       "no contiguous() before scaled_dot_product_attention or matmul: both take strides; keep [batch, rows, heads, "
       "head] from the projection to the output, and view() it; torch.compile fuses what remains"},
      {"vLLM",
       "its attention takes [tokens, heads, head] as the projection wrote it; VLLM_KV_CACHE_LAYOUT=NHD or HND is the "
       "cache's order"},
  };
  if (is_format)
    finding.changes.push_back({"PyTorch",
                               "model.to(memory_format=torch.channels_last) and inputs likewise: convolutions then "
                               "convert nothing; on ROCm with PYTORCH_MIOPEN_SUGGEST_NHWC=1"});
  finding.traps =
      "A kernel that reads strides can be slower than one that reads rows: a copy that pays for itself stays. view() "
      "refuses what reshape() copies silently.";
  finding.confirm = "The copies are gone, and the kernels that read what they wrote are no slower.";
  return finding;
}

}  // namespace rung::trace::findings
