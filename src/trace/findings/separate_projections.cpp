// Products on one input, launched separately: queries, keys and values, or gate and up.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/products.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

struct Projections {
  std::vector<size_t> work;
  std::string name;
  int64_t products = 0;
  int64_t kept_ns = 0;  // of the one product that would remain
};

// ---- by the shapes of operations
bool may_share_input(const Product& a, const Product& b) {
  return a.batch == 1 && b.batch == 1 && a.m == b.m && a.k == b.k && a.type() == b.type() && a.a.shape == b.a.shape &&
         a.a.strides == b.a.strides;
}

bool is_fill(const Analysis& analysis, size_t i) { return analysis.event(analysis.work[i]).kind == EventKind::fill; }

bool has_operand_of(const Analysis& analysis, const Work& work, int64_t elements) {
  if (work.op == kNone) return false;
  const auto operands = operands_of(analysis.recording, analysis.recording.events[work.op]);
  return std::ranges::any_of(operands, [&](const CallOperand& operand) { return elements_of(operand) == elements; });
}

// Between gate and up there is no work, or the activation of the gate's result, which then multiplies up's result.
bool is_activated_gate(const Analysis& analysis, const Product& gate, const Product& up) {
  const size_t between = gate.last + 1, after = up.last + 1;
  if (up.first != between + 1 || after >= analysis.work.size() || gate.n != up.n) return false;
  const Work &activation = analysis.work[between], &multiplied = analysis.work[after];
  return activation.kind.category == KernelCategory::elementwise &&
         has_operand_of(analysis, activation, gate.m * gate.n) &&
         op_name(analysis, multiplied).find("mul") != std::string_view::npos &&
         has_operand_of(analysis, multiplied, gate.m * gate.n);
}

bool is_back_to_back(const Analysis& analysis, const Product& a, const Product& b) {
  for (size_t i = a.last + 1; i < b.first; ++i)
    if (!is_fill(analysis, i)) return false;
  return true;
}

// Two products may be a chain if the result of one has the input's shape; three in a row are projections.
bool are_projections(std::span<const Product> group) {
  constexpr size_t kSurely = 3;
  return group.size() >= kSurely || (group.size() == 2 && group[0].n != group[0].k);
}

Projections projections_of(const Analysis& analysis, std::span<const Product> group) {
  Projections found;
  Demand demand;
  int64_t longest = 0;
  std::string columns;
  for (const Product& product : group) {
    for (const size_t i : indices(product.first, product.last))
      if (analysis.work[i].op == product.op) found.work.push_back(i);
    longest = std::max(longest, product.ns);
    const double input = found.products++ > 0 ? bytes_of(product.a) : 0;  // the input is read once
    demand.flops += product.flops();
    demand.bytes += product.demand().bytes - input;
    columns += fmt::format("{}{}", columns.empty() ? "" : " + ", product.n);
  }
  found.kept_ns = std::max(longest, floor_ns(peaks_of(analysis), demand));
  found.name = fmt::format("{} [{},{}] by {} columns", label_of(analysis, analysis.work[group[0].main]), group[0].m,
                           group[0].k, columns);
  return found;
}

std::vector<Projections> by_shapes(const Analysis& analysis) {
  const std::vector<Product>& products = products_of(analysis);
  std::vector<Projections> found;
  for (size_t first = 0, end = 0; first < products.size(); first = end) {
    for (end = first + 1; end < products.size(); ++end) {
      const Product &a = products[end - 1], &b = products[end];
      if (!may_share_input(a, b)) break;
      if (!is_back_to_back(analysis, a, b) && !(end == first + 1 && is_activated_gate(analysis, a, b))) break;
    }
    const std::span<const Product> group(&products[first], end - first);
    if (are_projections(group)) found.push_back(projections_of(analysis, group));
  }
  return found;
}

// ---- by kernels only, as in the replay of a graph
// Three products in a row, the last two with the same kernel and grid, and attention before the next: q, k and v.
bool are_same_launch(const Analysis& analysis, const Work& a, const Work& b) {
  const LaunchShape launch = launch_of(analysis, a);
  return analysis.event(a).name == analysis.event(b).name && launch != LaunchShape{} &&
         launch == launch_of(analysis, b);
}

bool has_attention_next(const Analysis& analysis, size_t i) {
  for (; i < analysis.work.size(); ++i) {
    if (analysis.work[i].kind.category == KernelCategory::gemm) return false;
    if (analysis.work[i].kind.category == KernelCategory::attention) return true;
  }
  return false;
}

std::vector<Projections> by_kernels(const Analysis& analysis) {
  constexpr size_t kProjections = 3;
  std::vector<Projections> found;
  std::vector<size_t> run;
  for (size_t i = 0; i <= analysis.work.size(); ++i) {
    const bool inside = i < analysis.work.size() && analysis.work[i].op == kNone;
    if (inside && analysis.work[i].kind.category == KernelCategory::gemm) {
      run.push_back(i);
      continue;
    }
    if (inside && is_fill(analysis, i)) continue;
    if (run.size() == kProjections && are_same_launch(analysis, analysis.work[run[1]], analysis.work[run[2]]) &&
        has_attention_next(analysis, i)) {
      int64_t longest = 0;
      for (const size_t at : run) longest = std::max(longest, analysis.event(analysis.work[at]).duration_ns);
      found.push_back({run, sequence_of(analysis, run), kProjections, longest});
    }
    run.clear();
  }
  return found;
}

}  // namespace

std::optional<TraceFinding> separate_projections(const Analysis& analysis) {
  Saving saving(analysis);
  Tally tally;
  int64_t products = 0;
  for (const std::vector<Projections>& all : {by_shapes(analysis), by_kernels(analysis)}) {
    for (const Projections& group : all) {
      saving.replace(group.work, group.kept_ns);
      tally.add(group.name, duration_of(analysis, group.work));
      products += group.products;
    }
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "separate_projections";
  finding.title =
      fmt::format("{} products of a step, {}, are launched apart though they share inputs ({} groups)",
                  count_in_words(per_step(analysis, products)), duration_ms(ms_per_step(analysis, tally.ns())),
                  count_in_words(per_step(analysis, tally.count())));
  finding.evidence = tally.rows();
  saving.give_bound(
      finding,
      "time of each group, less its longest product or what one product of all columns needs at the card's peaks");
  finding.remedy = "Concatenate the weights once after loading, launch one product, split its result.";
  finding.changes = {
      {"PyTorch",
       "torch.cat of the weights (and biases) on dim 0 into one nn.Linear; .split([q, kv, kv], dim=-1) of its result, "
       "sizes by heads where they are grouped; likewise gate and up, then one kernel for activation times up"},
      {"vLLM",
       "QKVParallelLinear and MergedColumnParallelLinear of vllm.model_executor.layers.linear, with SiluAndMul or "
       "GeluAndMul"},
  };
  finding.traps =
      "The new shape needs its own entry in tuned files (TunableOp, hipBLASLt's override, aiter's CSV): old ones "
      "never match it. Parts are views with the whole row's stride, which a kernel may copy. Quantised weights keep a "
      "scale for each part; adapters must follow. Without shapes, kernels and grids say that products are alike, not "
      "that their input is.";
  finding.confirm =
      "Two launches fewer for each attention; the one product is shorter than the sum; outputs are equal but for the "
      "order of sums.";
  return finding;
}

}  // namespace rung::trace::findings
