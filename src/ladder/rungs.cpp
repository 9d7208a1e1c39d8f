// The ladder: what each rung changes in a recipe.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/rungs.hpp"

#include <array>

namespace rung {
namespace {

template <const char* Name>
void add(Recipe& recipe) {
  recipe.rungs.insert(Name);
}
template <const char* Name>
void drop(Recipe& recipe) {
  recipe.rungs.erase(Name);
}
constexpr char kReduce[] = "reduce", kAttention[] = "attention", kProjection[] = "projection", kFusion[] = "fusion",
               kPrecision[] = "precision";

void capture(Recipe& recipe) { recipe.capture = true; }
void uncapture(Recipe& recipe) { recipe.capture = false; }
void tuned(Recipe& recipe) { recipe.tuned_kernels = true; }
void untuned(Recipe& recipe) {
  recipe.tuned_kernels = false;
  recipe.choices.clear();
}
void narrow(Recipe& recipe) {
  recipe.rungs.insert(kPrecision);
  recipe.precision = DType::bf16;
}
void widen(Recipe& recipe) {
  recipe.rungs.erase(kPrecision);
  recipe.precision = DType::f32;
}
void refine(Recipe&) {}  // edits choices only; the climb does it by trying them on the whole model

constexpr std::array<Rung, 8> kLadder{{
    {"reduce", "exact work removal", false, add<kReduce>, drop<kReduce>},
    {"capture", "one bound launch list instead of dispatching op by op", false, capture, uncapture},
    {"attention", "softmax(QK)V as one kernel, no transposes", false, add<kAttention>, drop<kAttention>},
    {"gemm", "backend and algorithm per problem, by measurement", false, tuned, untuned},
    {"projection", "projections of one input as one GEMM", false, add<kProjection>, drop<kProjection>},
    {"fusion", "norms, activations, residuals, bias and casts folded into neighbours", false, add<kFusion>,
     drop<kFusion>},
    {"tune", "kernel choices refined on the whole model", false, refine, refine},
    {"precision", "bf16 contractions", true, narrow, widen},
}};

}  // namespace

std::span<const Rung> ladder() { return kLadder; }
const Rung* rung_named(std::string_view name) {
  for (const Rung& rung : kLadder)
    if (rung.name == name) return &rung;
  return nullptr;
}

Recipe default_recipe(int threads, DType precision) {
  Recipe recipe{.threads = threads};
  for (const Rung& rung : kLadder)
    if (!rung.opt_in || precision != DType::f32) rung.apply(recipe);
  return recipe;
}

}  // namespace rung
