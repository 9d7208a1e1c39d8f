// An element-wise kernel computes no product or attention: if its name has one, it reads a view of its result.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/inductor_name.hpp"

#include <algorithm>

namespace rung::trace {
namespace {

// Operations of ATen that move elements without arithmetic.
constexpr std::string_view kMoves[] = {"_to_copy",       "cat",        "clone",     "constant_pad_nd",
                                       "copy",           "copy_",      "embedding", "empty_like",
                                       "fill",           "flip",       "full",      "full_like",
                                       "gather",         "index",      "index_put", "index_put_",
                                       "index_select",   "new_zeros",  "ones",      "permute",
                                       "repeat",         "roll",       "scatter",   "select_scatter",
                                       "slice_scatter",  "stack",      "transpose", "zeros",
                                       "zeros_like",     "contiguous", "pad",       "repeat_interleave",
                                       "as_strided_copy"};
// Views, and operations of other kernels whose results are read.
constexpr std::string_view kViews[] = {"_unsafe_view",
                                       "alias",
                                       "as_strided",
                                       "chunk",
                                       "detach",
                                       "expand",
                                       "getitem",
                                       "lift_fresh_copy",
                                       "movedim",
                                       "reshape",
                                       "select",
                                       "slice",
                                       "split",
                                       "split_with_sizes",
                                       "squeeze",
                                       "t",
                                       "unbind",
                                       "unflatten",
                                       "unsqueeze",
                                       "view",
                                       "_scaled_dot_product_cudnn_attention",
                                       "_scaled_dot_product_efficient_attention",
                                       "_scaled_dot_product_flash_attention",
                                       "_scaled_dot_product_fused_attention_overrideable",
                                       "scaled_dot_product_attention",
                                       "_scaled_mm",
                                       "addmm",
                                       "baddbmm",
                                       "bmm",
                                       "convolution",
                                       "linear",
                                       "matmul",
                                       "mm"};

// Returns the longest operation with which `text` begins, before '_'; empty: none.
template <size_t N>
std::string_view longest_of(const std::string_view (&words)[N], std::string_view text) {
  std::string_view longest;
  for (const std::string_view word : words)
    if (word.size() > longest.size() && text.starts_with(word) && text.substr(word.size()).starts_with('_'))
      longest = word;
  return longest;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_inductor_copy(std::string_view name) {
  constexpr std::string_view kFused = "triton_poi_fused_";
  if (!name.starts_with(kFused)) return false;
  name.remove_prefix(kFused.size());
  bool moves = false;
  while (!is_number(name)) {
    const std::string_view move = longest_of(kMoves, name), view = longest_of(kViews, name);
    const std::string_view longer = move.size() > view.size() ? move : view;
    if (longer.empty()) return false;
    moves |= longer == move;
    name.remove_prefix(longer.size() + 1);
  }
  return moves;
}

}  // namespace rung::trace
