// Which operators share elements with their argument, and how a view's elements go back to where it takes them from.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/aliases.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

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
// Those whose variant with an underscore changes its argument's shape and none of its elements: it is a view, too.
constexpr std::string_view kReshaping[] = {"detach", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze"};
constexpr std::string_view kUnsaid[] = {"reshape", "reshape_as", "ravel",   "flatten",        "contiguous",
                                        "to",      "type_as",    "dropout", "feature_dropout"};

bool reshapes_in_place(std::string_view name) {
  return name.ends_with('_') && std::ranges::find(kReshaping, name.substr(0, name.size() - 1)) != std::end(kReshaping);
}

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

bool is_in_place(std::string_view target) {
  const std::string_view name = base_name(target);
  return target.starts_with("aten.") && name.ends_with('_') && !name.starts_with("__");
}

bool writes(std::string_view target) { return is_in_place(target) && !reshapes_in_place(base_name(target)); }

Sharing sharing_of(std::string_view target) {
  const std::string_view name = base_name(target);
  if (!target.starts_with("aten.")) return Sharing::own;
  if (is_in_place(target) || std::ranges::find(kViews, name) != std::end(kViews)) return Sharing::views;
  return std::ranges::find(kUnsaid, name) != std::end(kUnsaid) ? Sharing::unsaid : Sharing::own;
}

// Where each group of `step` elements has one, they become a column of it: what a rotary embedding writes into even and
// odd places is then two halves side by side.
NodeId put_steps(const Call& view, NodeId base, NodeId part, const Steps& at) {
  if (at.step == 1) return view.replaced(base, part, at.axis, at.start);
  const int64_t extent = view.shape(base)[at.axis];
  const int64_t count = view.rank(part) == view.rank(base) ? view.shape(part)[at.axis] : -1;
  if (at.step < 1 || at.start < 0 || count < 0 || extent > exported::kMostMade ||
      (count > 0 && (at.start >= extent || count - 1 > (extent - 1 - at.start) / at.step)))
    refuse("{} in place of every {}th element of {} from {} on", view.type(part), at.step, view.type(base), at.start);
  if (at.start < at.step && count * at.step == extent && view.rank(base) < Dims::kMaxRank) {
    Shape groups = view.shape(base);
    groups[at.axis] = count;
    groups.insert(at.axis + 1, at.step);
    const NodeId columns = view.Emit::reshape(base, groups);
    const NodeId written = view.replaced(columns, view.unsqueeze(part, at.axis + 1), at.axis + 1, at.start);
    return view.Emit::reshape(written, view.shape(base));
  }
  std::vector<int64_t> places(static_cast<size_t>(extent));  // in the base with the part behind it
  std::iota(places.begin(), places.end(), 0);
  for (int64_t i = 0; i < count; ++i) places[static_cast<size_t>(at.start + i * at.step)] = extent + i;
  const NodeId table = view.literal(Tensor::of<int64_t>(Shape{extent}, places));
  return view.Emit::gather(view.concat({base, part}, at.axis), table, at.axis);
}

NodeId put_back(const Call& view, NodeId base, NodeId part) {
  std::string_view name = base_name(view.target());
  if (reshapes_in_place(name)) name.remove_suffix(1);
  if (name == "select") {
    const int at = view.axis(base, view.integer("dim"));
    const int64_t index = view.integer("index");
    return view.replaced(base, view.unsqueeze(part, at), at, from_front(index, view.shape(base)[at]));
  }
  if (name == "slice" || name == "narrow") {
    const int at = view.axis(base, view.integer("dim", 0));
    const int64_t start = from_front(view.integer("start", 0), view.shape(base)[at]);
    return put_steps(view, base, part, {at, start, view.integer("step", 1)});
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
