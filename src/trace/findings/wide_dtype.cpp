// Products and attention in f32 where bf16 or f16 would suffice: they use no matrix units, and twice the bytes.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/attention_chains.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/fused_attention.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/saving.hpp"

namespace rung::trace::findings {
namespace {

constexpr int kNarrowBytes = 2;
constexpr double kAlmostAll = 0.9;  // of the matrix work: then the whole model is in f32

// Names of wide kernels that have no operation.
constexpr std::string_view kWideKernels[] = {"sgemm", "f32f32_f32f32", "fmha_cutlassF_f32", "scudnn_", "_ffma_"};
bool is_wide_kernel(std::string_view kernel) {
  if (kernel.starts_with("Cijk_")) return kernel.find("_SB_") != kernel.npos || kernel.find("_S_B_") != kernel.npos;
  return std::ranges::any_of(kWideKernels, [&](std::string_view part) { return kernel.find(part) != kernel.npos; });
}

bool is_wide(std::string_view type) { return type == "f32" || type == "f64"; }
bool is_real(std::string_view type) { return is_wide(type) || is_narrow(type) || type.starts_with("f8"); }

bool is_matrix_kernel(const Work& work) {
  return work.kind.category == KernelCategory::gemm || work.kind.category == KernelCategory::attention;
}

// Returns whether the first two floating-point tensors are f32; none: the operation has none, or they are not recorded.
std::optional<bool> has_wide_operands(const Analysis& analysis, const Work& work) {
  if (work.op == kNone) return std::nullopt;
  int tensors = 0;
  bool wide = true;
  for (const CallOperand& operand : operands_of(analysis.recording, analysis.recording.events[work.op])) {
    if (operand.shape.empty() || !is_real(operand.type)) continue;
    wide = wide && is_wide(operand.type);
    if (++tensors == 2) break;
  }
  return tensors == 0 ? std::nullopt : std::optional(wide);
}

class WideWork {
 public:
  explicit WideWork(const Analysis& analysis)
      : analysis_(analysis),
        peaks_(peaks_of(analysis)),
        saving_(analysis),
        products_(products_of(analysis)),
        of_product_(analysis.work.size()) {
    for (const Product& product : products_)
      for (size_t i = product.first; i <= product.last; ++i)
        if (analysis.work[i].op == product.op) of_product_[i] = true;
  }

  void look() {
    const std::vector<bool> in_attention = work_in(analysis_, attention_chains(analysis_, products_));
    look_at_products(in_attention);
    for (size_t i = 0; i < analysis_.work.size(); ++i)
      if (!of_product_[i] && is_matrix_kernel(analysis_.work[i])) look_at_kernel(i);
    if (static_cast<double>(tally_.ns()) >= kAlmostAll * static_cast<double>(matrix_ns_)) look_at_others(in_attention);
  }

  std::optional<TraceFinding> finding();

 private:
  // A product in attention is charged only its arithmetic: its operands need not leave the chip.
  void look_at_products(const std::vector<bool>& in_attention) {
    for (const Product& product : products_) {
      matrix_ns_ += product.ns;
      if (!is_wide(product.type())) continue;
      Demand demand = product.demand(kNarrowBytes);
      if (in_attention[product.main]) demand.bytes = 0;
      saving_.shorten(product.ns - floor_ns(peaks_, demand));
      tally_.add(
          fmt::format("{} {}x{}x{}", analysis_.name(analysis_.work[product.main]), product.m, product.n, product.k),
          product.ns);
    }
  }

  void look_at_kernel(size_t i) {
    const Work& work = analysis_.work[i];
    const int64_t ns = analysis_.event(work).duration_ns;
    matrix_ns_ += ns;
    if (!has_wide_operands(analysis_, work).value_or(work.op == kNone && is_wide_kernel(analysis_.name(work)))) return;
    int64_t needed = 0;
    if (auto demand = fused_demand_of(analysis_, work, 1)) {
      demand->bytes /= 2;
      needed = floor_ns(peaks_, *demand);
    }
    saving_.shorten(ns - needed);
    tally_.add(analysis_.name(work), ns);
  }

  // If all work is in f32, saves half the bytes of other work, and all of attention in pieces.
  void look_at_others(const std::vector<bool>& in_attention) {
    for (size_t i = 0; i < analysis_.work.size(); ++i) {
      const Work& work = analysis_.work[i];
      if (of_product_[i] || is_matrix_kernel(work)) continue;
      if (!in_attention[i] && !has_wide_operands(analysis_, work).value_or(false)) continue;
      const int64_t ns = analysis_.event(work).duration_ns;
      saving_.shorten(in_attention[i] ? ns : ns / 2);
      others_ns_ += ns, ++others_;
    }
  }

  const Analysis& analysis_;
  const CardPeaks* peaks_;
  Saving saving_;
  const std::vector<Product>& products_;
  std::vector<bool> of_product_;  // per piece of work
  Tally tally_;
  int64_t matrix_ns_ = 0, others_ns_ = 0, others_ = 0;
};

// Matrix units that support only f16 have no TF32 either.
bool knows_bf16(const CardPeaks* peaks) { return !peaks || peaks->narrow != Narrow::f16; }

std::vector<Change> changes_for(const CardPeaks* peaks) {
  if (!knows_bf16(peaks))
    return {{"PyTorch", "model.to(torch.float16) with inputs alike, or torch.autocast(\"cuda\", torch.float16)"},
            {"vLLM", "--dtype half"}};
  std::vector<Change> changes = {
      {"PyTorch",
       "model.to(torch.bfloat16) with inputs alike, or torch.autocast(\"cuda\", torch.bfloat16); where f32 must stay, "
       "torch.set_float32_matmul_precision(\"high\") (TF32 or bf16 pairs)"},
      {"vLLM", "--dtype bfloat16; auto takes the checkpoint's type and turns f32 into half"}};
  if (!peaks || peaks->is_amd())
    changes.push_back({"AMD",
                       "MI300 and MI350 have f32 matrix units at a fraction of the rate of bf16; bf16 is also the "
                       "faster of the two 16-bit types there"});
  return changes;
}

std::string_view traps_for(const CardPeaks* peaks) {
  if (!knows_bf16(peaks))
    return "Keep sums of norms, softmax and positions in f32. f16 overflows above 65504: compare outputs on inputs "
           "with "
           "large values. Autocast converts weights in every step unless they are in f16 already.";
  return "set_float32_matmul_precision(\"high\") changes products, not bytes: half of the bound at most where memory "
         "is the limit. Grouped heads in f32 have no fused attention in PyTorch. Keep sums of norms, softmax and "
         "positions in f32. f16 overflows where bf16 does not. Autocast converts weights in every step unless they are "
         "in bf16 already.";
}

std::optional<TraceFinding> WideWork::finding() {
  if (tally_.empty() || !is_worthwhile(analysis_, saving_.bound_ms())) return std::nullopt;
  const double share = static_cast<double>(tally_.ns()) / static_cast<double>(std::max<int64_t>(matrix_ns_, 1));
  TraceFinding finding;
  finding.id = "wide_dtype";
  finding.title = fmt::format("{} products of a step, {}, are in f32: {} of its matrix work",
                              count_in_words(per_step(analysis_, tally_.count())),
                              duration_ms(ms_per_step(analysis_, tally_.ns())), percent(share));
  finding.evidence = tally_.rows();
  if (others_ns_ > 0) finding.evidence.push_back({"other kernels on f32", others_, ms_of(others_ns_)});
  const std::string_view narrow = peaks_ ? peaks_->narrow_type() : "bf16";
  saving_.give_bound(
      finding,
      fmt::format("time above what the same products need at the card's peaks in {}, and, where all is in f32, half of "
                  "the other kernels and attention's pieces",
                  narrow));
  finding.remedy = narrow == "bf16"
                       ? "Load and run the model in bf16, or let f32 products use the matrix units."
                       : "Load and run the model in f16: this card's matrix units multiply neither bf16 nor f32.";
  finding.changes = changes_for(peaks_);
  finding.traps = traps_for(peaks_);
  finding.confirm =
      "Kernels' names lose f32 and sgemm; compare outputs with the f32 model on many inputs before and after.";
  return finding;
}

}  // namespace

std::optional<TraceFinding> wide_dtype(const Analysis& analysis) {
  WideWork work(analysis);
  work.look();
  return work.finding();
}

}  // namespace rung::trace::findings
