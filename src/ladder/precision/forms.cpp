// Asks the kernel rows which forms of products they compute.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/forms.hpp"

#include <fmt/format.h>

#include "kernels/gpu/quantize/machine_f8.hpp"
#include "plan/kernel_choice.hpp"
#include "plan/state_use.hpp"

namespace rung {
namespace {

// The number of rows of the products that are asked about: one, as decoders have, and some, as the others do.
constexpr int64_t kRows[] = {1, 64};
constexpr int64_t kWidth = 1024;
constexpr int64_t kGroup = 32;  // columns that share a scale

DType f8_of(const Target& target) { return target.gpu ? gpu::machine_f8(target.machine.gpu) : DType::f8e4m3fn; }

// Returns whether rows that use matrix instructions for integers are there; others widen them one by one.
bool multiplies_i8(const Target& target) {
  constexpr int kHopper = 90;
  return !target.gpu || (target.machine.gpu.runtime == "cuda" && target.machine.gpu.architecture == kHopper);
}

// The facts of a plan's products with weights on which its forms depend: what holds for most of the weights' bytes.
struct PlannedProducts {
  bool narrow = false;    // weights have at most 16 bits
  bool few_rows = false;  // some products have so few rows that the time to read their weights is all that counts
  DType x = DType::f32;   // what the largest weights multiply

  explicit PlannedProducts(const Plan& plan) {
    constexpr int64_t kFewRows = 8;
    constexpr double kMost = 0.9;
    double all = 0, wide = 0, of_few_rows = 0, most = 0;  // bytes
    for (const Step& step : plan.steps) {
      if (!as<Linear>(step.op)) continue;
      const Operand& w = step.inputs[1].view;
      const double bytes = static_cast<double>(w.shape.product()) * static_cast<double>(size_of(w.dtype));
      all += bytes, wide += w.dtype == DType::f32 ? bytes : 0;
      of_few_rows += step.output.view.rows() <= kFewRows ? bytes : 0;
      if (bytes > most) most = bytes, x = step.inputs[0].view.dtype;
    }
    narrow = all > 0 && wide <= (1 - kMost) * all;
    few_rows = of_few_rows > (1 - kMost) * all;
  }
};

// Asks about x w' with few rows of x and with weights in groups of columns.
Verdict computes(const KernelQuery& has_kernel, DType x, const WeightForm& form) {
  Linear op{.out = DType::f32};
  std::vector<Type> types{{x, {kRows[0], kWidth}}, {form.to, {kWidth, kWidth / (form.to == DType::u8 ? 2 : 1)}}};
  const Type groups{DType::i8, {kWidth, kWidth / form.group}};
  op.slots.put(types, LinearSlot::scale, Type{DType::f32, {kWidth}});
  op.slots.put(types, LinearSlot::group_scale, groups);
  if (form.to == DType::u8) op.slots.put(types, LinearSlot::group_offset, groups);
  return has_kernel(op, types);
}

// Asks about x w', x of one type and w of another, whose numbers of 8 bits have scales.
Verdict computes(const KernelQuery& has_kernel, DType x, DType w) {
  Verdict verdict = reject("no kernel");
  for (const int64_t rows : kRows) {
    Linear op{.out = DType::f32};
    std::vector<Type> types{{x, {rows, kWidth}}, {w, {kWidth, kWidth}}};
    if (is_quantised(w)) op.slots.put(types, LinearSlot::scale, Type{DType::f32, {kWidth}});
    if (is_quantised(x)) op.slots.put(types, LinearSlot::x_scale, Type{DType::f32, {rows}});
    verdict = has_kernel(op, types);
    if (verdict) break;
  }
  return verdict;
}

bool is_state(const Plan& plan, const PlanOperand& operand) {
  return operand.storage == Storage::buffer && state_in(plan, operand.index);
}

// Asks about attention over the first cache of a plan, if it were kept in 8 bits; none: the plan has no cache.
std::optional<Verdict> reads_cache(const KernelQuery& has_kernel, const Plan& plan, DType cache) {
  for (const Step& step : plan.steps) {
    const auto* attention = as<Attention>(step.op);
    if (attention && attention->segments == 1 && is_state(plan, step.inputs.back())) {
      std::vector<Type> types = operand_types(step);
      for (size_t i = attention->first_key(); i < types.size(); ++i) types[i].dtype = cache;
      return has_kernel(*attention, types);
    }
    if (const auto* cached = as<CachedAttention>(step.op)) {
      std::vector<Type> types = operand_types(step);
      types[CacheHeads::kKeys].dtype = types[CacheHeads::kValues].dtype = cache;
      return has_kernel(*cached, types);
    }
  }
  return std::nullopt;
}

}  // namespace

void PrecisionForm::apply(PartPrecision& part) const {
  part.products = products, part.weights = weights, part.cache = cache;
  if (smooth > 0) part.smooth = smooth;
  if (rotate) part.rotate = rotate;
  if (percentile < 100) part.percentile = percentile;
  if (outliers > 0) part.outliers = outliers;
}

bool multiplies_bf16(const Target& target) {
  constexpr int kAmpere = 80;
  const auto& gpu = target.machine.gpu;
  if (target.gpu) return gpu.runtime != "cuda" || gpu.architecture >= kAmpere;
  return target.machine.avx512_bf16 || target.machine.amx_bf16;
}

Verdict multiplies_outliers(const Target& target, int threads, int64_t outliers) {
  Linear op{.out = DType::f32};
  std::vector<Type> types{{DType::i8, {kRows[0], kWidth}}, {DType::i8, {kWidth, kWidth}}};
  op.slots.put(types, LinearSlot::scale, Type{DType::f32, {kWidth}});
  op.slots.put(types, LinearSlot::x_scale, Type{DType::f32, {kRows[0]}});
  op.slots.put(types, LinearSlot::x_outliers, Type{DType::f32, {kRows[0], outliers}});
  op.slots.put(types, LinearSlot::w_outliers, Type{DType::f32, {kWidth, outliers}});
  return kernel_query(target, threads)(op, types);
}

std::vector<PrecisionForm> precision_forms(const Plan& plan, std::vector<std::string>& notes) {
  const Target& target = *plan.target;
  const PlannedProducts products(plan);
  std::vector<PrecisionForm> forms{
      {.name = products.narrow ? "as stored" : "f32", .products = DType::f32, .weights = {}}};
  DType unquantised = DType::f32;
  if (products.narrow)
    notes.emplace_back("bf16: the model's weights have 16 bits, and a recipe never widens");
  else if (!multiplies_bf16(target))
    notes.emplace_back("bf16: products in it are no faster here than in f32");
  else
    forms.push_back({.name = "bf16", .products = unquantised = DType::bf16, .weights = {}});
  const KernelQuery has_kernel = kernel_query(target, plan.recipe.threads);
  const auto add = [&](PrecisionForm form, const Verdict& verdict) {
    if (verdict)
      forms.push_back(std::move(form));
    else
      notes.push_back(fmt::format("{}: {}", form.name, verdict.reason));
  };
  for (const DType dtype : {f8_of(target), DType::i8}) {
    const std::string name(name_of(dtype));
    const PrecisionForm both{.name = name, .products = dtype, .weights = {}};
    const PrecisionForm alone{.name = name + " weights", .products = unquantised, .weights = WeightForm{dtype}};
    add(both, dtype == DType::i8 && !multiplies_i8(target) ? reject("this GPU's kernels multiply no integers")
                                                           : computes(has_kernel, dtype, dtype));
    add(alone, target.gpu && !products.few_rows ? reject("no product has so few rows that it would save time")
                                                : computes(has_kernel, unquantised, dtype));
  }
  for (const DType dtype : {DType::i8, DType::u8}) {
    const WeightForm in_groups{.to = dtype, .group = kGroup};
    add({.name = fmt::format("{} weights in groups of {}", name_of(in_groups), kGroup),
         .products = unquantised,
         .weights = in_groups},
        products.few_rows ? computes(has_kernel, products.narrow ? products.x : unquantised, in_groups)
                          : reject("no product has so few rows that it would save time"));
  }
  const DType cache = f8_of(target);
  if (const auto verdict = reads_cache(has_kernel, plan, cache))
    add({.name = fmt::format("{} cache", cache), .products = unquantised, .weights = {}, .cache = cache}, *verdict);
  return forms;
}

}  // namespace rung
