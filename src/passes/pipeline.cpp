// THE lists: every pass, in the order it runs, with the rung it belongs to and the reason for its place.
// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include "passes/passes.hpp"

namespace rung {
namespace {

// clang-format off
constexpr Pass kFirst[] = {
    {"drop_empty",         kCanonicalRung, "kernels have no form for values without elements", passes::drop_empty},
    {"unroll_recurrences", kCanonicalRung, "not every device has a kernel for all steps of one", passes::unroll_recurrences},
};

constexpr Pass kCanonical[] = {
    {"simplify",              kCanonicalRung, "drops what does nothing, so that later patterns see plain chains", passes::simplify},
    {"simplify_indices",      kCanonicalRung, "before constants fold: what always finds one row is one", passes::simplify_indices},
    {"fold_constants",        kCanonicalRung, "small constant expressions become literals: frozen masks, positions", passes::fold_constants},
    {"cse",                   kCanonicalRung, "equal nodes become one: this hoists what unrolled loop steps share", passes::cse},
    {"recognise_linear",      kCanonicalRung, "makes products that projections merge and rungs extend", passes::recognise_linear},
    {"recognise_integer_products", kCanonicalRung, "after linears have their biases, and before factors move into weights", passes::recognise_integer_products},
    {"recognise_rms_norm",    kCanonicalRung, "one op for what authors write in many", passes::recognise_rms_norm},
    {"recognise_activations", kCanonicalRung, "so that a linear or a product can take them", passes::recognise_activations},
    {"recognise_rope",        kCanonicalRung, "so that transposes of q and k can move through it", passes::recognise_rope},
};

constexpr Pass kPipeline[] = {
    {"eliminate_dead_rows",      "reduce",     "after masks are literals: skips masked keys, and the rows and towers only they needed", passes::eliminate_dead_rows},
    {"batch_towers",          "reduce",     "after masked towers are gone: equal towers run as one batch", passes::batch_towers, kThenCanonical},
    {"channels_last",         "fusion",     "so that ops which follow a convolution stand beside it", passes::channels_last, kThenCanonical},
    {"recognise_integer_convs", "fusion",   "once channels stand last; those that no row takes are lowered next", passes::recognise_integer_convs, kThenCanonical},
    {"lower_integer_conv",    "fusion",     "once channels stand last, and before convolutions of floats take other forms", passes::lower_integer_conv, kThenCanonical},
    {"lower_patch_conv",      "fusion",     "makes a linear that the rules below can extend", passes::lower_patch_conv, kThenCanonical},
    {"fold_channel_scale",    "fusion",     "after transposes are gone from between a convolution and its norm", passes::fold_channel_scale, kThenCanonical},
    {"lower_transposed_conv", "fusion",     "after its norm is folded, which every phase then has", passes::lower_transposed_conv, kThenCanonical},
    {"fuse_conv",             "fusion",     "before convolutions become linears, which have no activation behind a residual", passes::fuse_conv},
    {"lower_conv",            "fusion",     "makes linears that the rules below can extend", passes::lower_conv, kThenCanonical},
    {"merge_reduces",         "fusion",     "after layouts are settled: an image's rows and columns are then neighbours", passes::merge_reduces, kThenCanonical},
    {"compose_linears",       "reduce",     "after masked rows are gone; sums in another order, so exact to rounding", passes::compose_linears, kThenCanonical},
    {"fuse_attention",        "attention",  "one op per attention, without copies of heads, transposes or caches", passes::fuse_attention},
    {"recognise_spans",      "attention",  "after all attentions are one op, and masks stand as they add to the scores", passes::recognise_spans},
    {"widen_ropes",           "projection", "after all attentions are one op: their scores do not know the order of a head's columns", passes::widen_ropes, kThenCanonical},
    {"merge_projections",     "projection", "q, k, v as one product, gate and up as one", passes::merge_projections},
    {"merge_norms",           "regions",    "after q and k are slices of one product, and before their ropes, which read norms", passes::merge_norms},
    {"merge_ropes",           "projection", "after q and k are slices of one product", passes::merge_ropes},
    {"fuse_gated",            "fusion",     "after gate and up are one product", passes::fuse_gated},
    {"fuse_activation",       "fusion",     "after gates, which want the activation for themselves", passes::fuse_activation},
    {"fuse_residual",         "fusion",     "after activations: an epilogue adds the residual last", passes::fuse_residual},
    {"fuse_add_norm",         "fusion",     "takes the sums that no linear took", passes::fuse_add_norm},
    {"fuse_masked_mean",      "fusion",     "before its parts become pointwise", passes::fuse_masked_mean},
    {"keep_bytes_wide",       "fusion",     "after products of integers have their bytes, so that the others' stay in registers", passes::keep_bytes_wide, kThenCanonical},
    {"fuse_pointwise",        "fusion",     "whatever element-wise ops are left", passes::fuse_pointwise},
    {"narrow_parts",          "precision",  "after all fusions: only what is stored between kernels narrows", passes::narrow_parts},
    {"narrow_states",          "precision", "once it is settled which values are narrow, and before heads are turned in the type of their keys", passes::narrow_states},
    {"narrow_caches",          "precision", "once other states are narrow, and before heads go to caches in one op", passes::narrow_caches},
    {"fuse_narrow_activation", "fusion",    "once more: rows of 16-bit products take activations that those of f32 leave", passes::fuse_activation},
    {"fuse_caches",           "fusion",     "after states are narrow, and before heads that it turns itself move into products", passes::fuse_caches},
    {"fuse_cached_attention", "attention",  "takes what fuse_caches made and its attention, where the device has it in one launch", passes::fuse_cached_attention},
    {"fuse_rope",             "fusion",     "after types are settled: few kernels turn heads, each for certain types", passes::fuse_rope},
    {"widen_sums",            "fusion",     "once it is known which values only sums and norms read", passes::widen_sums},
    {"fold_norm",             "fusion",     "after sums are wide: linears then leave more than their sum to those behind a norm", passes::fold_norm},
    {"pad_hidden",            "projection", "late: it asks for linears that have their epilogues", passes::pad_hidden},
    {"smooth_products",       "precision",  "after linears have all that they take from and give to their neighbours", passes::smooth_products},
    {"rotate_streams",        "precision",  "after factors, which find the channels as they were measured", passes::rotate_streams},
    {"rotate_heads",          "precision",  "beside the streams; neither sees what the other mixes", passes::rotate_heads},
    {"quantise_products",     "precision",  "once channels are alike, and their scales then serve all of them", passes::quantise_products},
    {"keep_groups",         "fusion",     "after fusions and merges, which know weights of floats alone", passes::keep_groups},
    {"lower_argmax",          "regions",    "makes regions, which those below take in", passes::lower_argmax},
    {"form_regions",          "regions",    "last: from what no named op took, with its casts and its programs", passes::form_regions},
};
// clang-format on

}  // namespace

std::span<const Pass> first_passes() { return kFirst; }
std::span<const Pass> canonical_passes() { return kCanonical; }
std::span<const Pass> pipeline() { return kPipeline; }

}  // namespace rung
