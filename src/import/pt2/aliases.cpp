// Which operators share elements with their argument, and how a view's elements go back to where it takes them from.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/aliases.hpp"

#include <algorithm>
#include <limits>

namespace rung::pt2 {
namespace {

using exported::refuse;

constexpr std::string_view kViews[] = {"_conj",
                                       "_unsafe_view",
                                       "adjoint",
                                       "alias",
                                       "as_strided",
                                       "broadcast_tensors",
                                       "broadcast_to",
                                       "chunk",
                                       "conj",
                                       "detach",
                                       "diagonal",
                                       "expand",
                                       "expand_as",
                                       "imag",
                                       "linalg_diagonal",
                                       "mT",
                                       "moveaxis",
                                       "movedim",
                                       "narrow",
                                       "numpy_T",
                                       "permute",
                                       "real",
                                       "select",
                                       "slice",
                                       "split",
                                       "split_with_sizes",
                                       "squeeze",
                                       "swapaxes",
                                       "swapdims",
                                       "t",
                                       "tensor_split",
                                       "transpose",
                                       "unbind",
                                       "unflatten",
                                       "unfold",
                                       "unsqueeze",
                                       "view",
                                       "view_as",
                                       "view_as_complex",
                                       "view_as_real"};
constexpr std::string_view kUnsaid[] = {"reshape", "reshape_as", "ravel",   "flatten",        "contiguous",
                                        "to",      "type_as",    "dropout", "feature_dropout"};

int64_t from_front(int64_t index, int64_t extent) {
  return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent);
}

NodeId transposed_back(const Call& view, NodeId part) {
  const std::vector<int64_t> order = view.integers("dims");
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(view.axis(part, order[i]))] = static_cast<int64_t>(i);
  return view.transpose(part, view.dims(back));
}

}  // namespace

bool writes(std::string_view target) {
  const std::string_view name = base_name(target);
  return target.starts_with("aten.") && name.ends_with('_') && !name.starts_with("__");
}

Sharing sharing_of(std::string_view target) {
  const std::string_view name = base_name(target);
  if (!target.starts_with("aten.")) return Sharing::own;
  if (writes(target) || std::ranges::find(kViews, name) != std::end(kViews)) return Sharing::views;
  return std::ranges::find(kUnsaid, name) != std::end(kUnsaid) ? Sharing::unsaid : Sharing::own;
}

NodeId put_back(const Call& view, NodeId base, NodeId part) {
  const std::string_view name = base_name(view.target());
  if (name == "select") {
    const int at = view.axis(base, view.integer("dim"));
    const int64_t index = view.integer("index");
    return view.replaced(base, view.unsqueeze(part, at), at, from_front(index, view.shape(base)[at]));
  }
  if (name == "slice" || name == "narrow") {
    const int at = view.axis(base, view.integer("dim", 0));
    if (view.integer("step", 1) != 1) refuse("a write of every {}th element", view.integer("step"));
    return view.replaced(base, part, at, from_front(view.integer("start", 0), view.shape(base)[at]));
  }
  if (name == "swapaxes") return view.swap_axes(part, view.integer("axis0"), view.integer("axis1"));
  if (name == "adjoint" || name == "mT") return view.swap_axes(part, -2, -1);
  if (name == "transpose" || name == "swapdims")
    return view.swap_axes(part, view.integer("dim0"), view.integer("dim1"));
  if (name == "t") return view.rank(part) < 2 ? part : view.swap_axes(part, 0, 1);
  if (name == "permute") return transposed_back(view, part);
  constexpr std::string_view kReshapes[] = {"alias",        "detach",    "view",      "view_as",
                                            "_unsafe_view", "unflatten", "unsqueeze", "squeeze"};
  if (writes(view.target()) || std::ranges::find(kReshapes, name) != std::end(kReshapes))
    return view.Emit::reshape(part, view.shape(base));
  refuse("a write through {}", view.target());
}

}  // namespace rung::pt2
