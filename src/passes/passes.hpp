// Every pass there is; pipeline.cpp gives their order. Each is right by itself, whichever others ran before it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.hpp"

namespace rung::passes {

// ahead of all others, whatever a recipe asks for
Status drop_empty(Graph& graph, PassContext& context);
Status unroll_recurrences(Graph& graph, PassContext& context);

// canonical forms
Status simplify(Graph& graph, PassContext& context);
Status simplify_indices(Graph& graph, PassContext& context);
Status fold_constants(Graph& graph, PassContext& context);
Status cse(Graph& graph, PassContext& context);
Status recognise_linear(Graph& graph, PassContext& context);
Status recognise_integer_products(Graph& graph, PassContext& context);
Status recognise_rms_norm(Graph& graph, PassContext& context);
Status recognise_activations(Graph& graph, PassContext& context);
Status recognise_rope(Graph& graph, PassContext& context);

// reduce: exact removal of work
Status eliminate_dead_rows(Graph& graph, PassContext& context);
Status batch_towers(Graph& graph, PassContext& context);
Status compose_linears(Graph& graph, PassContext& context);

// attention
Status fuse_attention(Graph& graph, PassContext& context);
Status recognise_spans(Graph& graph, PassContext& context);

// projection
Status widen_ropes(Graph& graph, PassContext& context);
Status merge_projections(Graph& graph, PassContext& context);
Status merge_norms(Graph& graph, PassContext& context);
Status merge_ropes(Graph& graph, PassContext& context);
Status pad_hidden(Graph& graph, PassContext& context);

// fusion
Status channels_last(Graph& graph, PassContext& context);
Status fold_channel_scale(Graph& graph, PassContext& context);
Status lower_patch_conv(Graph& graph, PassContext& context);
Status lower_transposed_conv(Graph& graph, PassContext& context);
Status fuse_conv(Graph& graph, PassContext& context);
Status lower_conv(Graph& graph, PassContext& context);
Status merge_reduces(Graph& graph, PassContext& context);
Status fuse_gated(Graph& graph, PassContext& context);
Status fuse_activation(Graph& graph, PassContext& context);
Status fuse_residual(Graph& graph, PassContext& context);
Status fuse_add_norm(Graph& graph, PassContext& context);
Status fuse_masked_mean(Graph& graph, PassContext& context);
Status keep_bytes_wide(Graph& graph, PassContext& context);
// Makes products of bytes of convolutions over dequantised bytes.
Status recognise_integer_convs(Graph& graph, PassContext& context);
Status lower_integer_conv(Graph& graph, PassContext& context);
// Makes products of few rows read weights of 4 bits as their file has them.
Status keep_groups(Graph& graph, PassContext& context);
Status fuse_pointwise(Graph& graph, PassContext& context);
Status fuse_caches(Graph& graph, PassContext& context);
Status fuse_cached_attention(Graph& graph, PassContext& context);
Status fuse_rope(Graph& graph, PassContext& context);
Status widen_sums(Graph& graph, PassContext& context);
Status fold_norm(Graph& graph, PassContext& context);

// regions
Status lower_argmax(Graph& graph, PassContext& context);
Status form_regions(Graph& graph, PassContext& context);

// precision
Status narrow_parts(Graph& graph, PassContext& context);
Status narrow_states(Graph& graph, PassContext& context);
Status narrow_caches(Graph& graph, PassContext& context);
Status smooth_products(Graph& graph, PassContext& context);
Status rotate_streams(Graph& graph, PassContext& context);
Status rotate_heads(Graph& graph, PassContext& context);
Status quantise_products(Graph& graph, PassContext& context);

}  // namespace rung::passes
