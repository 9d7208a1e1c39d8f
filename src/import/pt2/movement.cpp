// Operators of exported programs that move elements: views, slices, concatenations, indices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "import/exported/spectral.hpp"
#include "import/pt2/aliases.hpp"
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// The shape that `sizes` asks of x, where -1 keeps x's extent; axes may be added in front.
Shape expanded(const Call& call, NodeId x, const std::vector<int64_t>& sizes) {
  const int added = static_cast<int>(sizes.size()) - call.rank(x);
  if (added < 0 || sizes.size() > Dims::kMaxRank) refuse("got {} axes for {}", sizes.size(), call.type(x));
  Shape to;
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    if (size == -1 && i < added) refuse("size -1 of an axis that is added");
    to.push_back(size == -1 ? call.shape(x)[i - added] : size);
  }
  return to;
}

}  // namespace

Values view(const Call& call) {
  const char* name = call.has("size") ? "size" : "shape";
  return one(call.reshape(call.tensor("self"), call.integers(name)));
}
Values ravel(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.reshape(x, Shape{call.type(x).elements()}));
}
Values view_as(const Call& call) { return one(call.reshape(call.tensor("self"), call.shape(call.tensor("other")))); }

Values flatten(const Call& call) {
  const NodeId x = call.tensor("self");
  if (call.rank(x) == 0) return one(call.reshape(x, Shape{1}));
  const int first = call.axis(x, call.integer("start_dim", 0)), last = call.axis(x, call.integer("end_dim", -1));
  if (first > last) refuse("axes from {} to {}", first, last);
  Shape to;
  for (int i = 0; i < call.rank(x); ++i) {
    if (i <= first || i > last)
      to.push_back(call.shape(x)[i]);
    else
      to[first] *= call.shape(x)[i];
  }
  return one(call.reshape(x, to));
}

Values unflatten(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim"));
  std::vector<int64_t> sizes = call.integers("sizes");
  if (const auto open = std::ranges::find(sizes, -1); open != sizes.end()) {
    *open = 1;
    *open = call.shape(x)[at] / std::max<int64_t>(1, Dims(sizes).product());
  }
  std::vector<int64_t> to;
  for (int i = 0; i < call.rank(x); ++i) {
    if (i == at)
      to.insert(to.end(), sizes.begin(), sizes.end());
    else
      to.push_back(call.shape(x)[i]);
  }
  return one(call.reshape(x, to));
}

Values transpose(const Call& call) {
  return one(call.swap_axes(call.tensor("self"), call.integer("dim0"), call.integer("dim1")));
}
Values swapaxes(const Call& call) {
  return one(call.swap_axes(call.tensor("self"), call.integer("axis0"), call.integer("axis1")));
}
Values t(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.rank(x) < 2 ? x : call.swap_axes(x, 0, 1));
}
Values turned(const Call& call) {
  const NodeId x = call.tensor("self");
  Dims order;
  for (int i = call.rank(x) - 1; i >= 0; --i) order.push_back(i);
  return one(call.rank(x) < 2 ? x : call.transpose(x, order));
}
Values last_two_swapped(const Call& call) { return one(call.swap_axes(call.tensor("self"), -2, -1)); }
Values permute(const Call& call) {
  const NodeId x = call.tensor("self");
  std::vector<int64_t> order = call.integers("dims");
  for (int64_t& axis : order) axis = call.axis(x, axis);
  return one(call.transpose(x, call.dims(order)));
}
// Axes go to other places; those that are not named keep their order.
Values movedim(const Call& call) {
  const NodeId x = call.tensor("self");
  std::vector<int64_t> from = call.integers("source"), to = call.integers("destination");
  if (from.size() != to.size()) refuse("got {} axes to move to {} places", from.size(), to.size());
  for (int64_t& axis : from) axis = call.axis(x, axis);
  for (int64_t& axis : to) axis = call.axis(x, axis);
  Dims permutation;
  for (int i = 0, rest = 0; i < call.rank(x); ++i) {
    const auto named = std::ranges::find(to, i);
    if (named != to.end()) {
      permutation.push_back(from[static_cast<size_t>(named - to.begin())]);
      continue;
    }
    while (std::ranges::find(from, rest) != from.end()) ++rest;
    permutation.push_back(rest++);
  }
  return one(call.transpose(x, permutation));
}

Values unsqueeze(const Call& call) { return one(call.unsqueeze(call.tensor("self"), call.integer("dim"))); }
Values squeeze(const Call& call) {
  const NodeId x = call.tensor("self");
  std::vector<int64_t> axes;
  if (call.has("dim")) {
    axes = call.integers("dim");
  } else {
    for (int i = 0; i < call.rank(x); ++i) axes.push_back(i);
  }
  return one(call.squeeze(x, axes));
}

Values expand(const Call& call) {
  const NodeId x = call.tensor("self");
  return one(call.broadcast(x, expanded(call, x, call.integers("size"))));
}
// All in the shape that they have together.
Values broadcast_tensors(const Call& call) {
  std::vector<NodeId> all = call.tensors("tensors");
  Shape whole;
  for (NodeId x : all) {
    const auto joined = rung::broadcast(whole, call.shape(x));
    if (!joined) refuse("shapes that do not broadcast: {}", joined.error().message);
    whole = *joined;
  }
  for (NodeId& x : all) x = call.broadcast(x, whole);
  return several(all);
}
Values expand_as(const Call& call) {
  return one(call.broadcast(call.tensor("self"), call.shape(call.tensor("other"))));
}

namespace {

// Returns a number for each axis, in front too: "dims" of a few count for the last ones.
std::vector<int64_t> repeats_for(const Call& call, NodeId x) {
  std::vector<int64_t> repeats = call.integers(call.has("dims") ? "dims" : "repeats");
  if (call.has("dims"))
    while (repeats.size() < static_cast<size_t>(call.rank(x))) repeats.insert(repeats.begin(), 1);
  if (repeats.size() < static_cast<size_t>(call.rank(x)) || repeats.size() > Dims::kMaxRank)
    refuse("got {} repeats of {}", repeats.size(), call.type(x));
  return repeats;
}

}  // namespace

// x[1,...] copies of each axis: an axis of one is broadcast, another is put between an axis of copies.
Values repeat(const Call& call) {
  NodeId x = call.tensor("self");
  const std::vector<int64_t> repeats = repeats_for(call, x);
  while (call.rank(x) < static_cast<int>(repeats.size())) x = call.unsqueeze(x, 0);
  for (int i = 0; i < call.rank(x); ++i)
    if (const int64_t times = repeats[static_cast<size_t>(i)]; times != 1) x = call.repeat(x, i, times);
  return one(x);
}

// Each element of an axis `repeats` times, one beside the other.
Values repeat_interleave(const Call& call) {
  NodeId x = call.tensor("self");
  const int64_t times = call.integer("repeats");
  if (!call.has("dim")) x = call.reshape(x, Shape{call.type(x).elements()});
  const int at = call.axis(x, call.integer("dim", 0));
  if (times < 1) refuse("{} copies", times);
  Shape whole = call.shape(x);
  whole[at] *= times;
  const NodeId apart = call.unsqueeze(x, at + 1);
  Shape wide = call.shape(apart);
  wide[at + 1] = times;
  return one(call.reshape(call.broadcast(apart, wide), whole));
}

Values slice(const Call& call) {
  return one(call.slice(call.tensor("self"), call.integer("dim", 0), call.integer("start", 0),
                        call.integer("end", kEnd), call.integer("step", 1)));
}
Values select(const Call& call) {
  return one(call.select_index(call.tensor("self"), call.integer("dim"), call.integer("index")));
}
Values narrow(const Call& call) {
  const int64_t start = call.integer("start");
  return one(call.slice(call.tensor("self"), call.integer("dim"), start, start + call.integer("length")));
}

// Windows of an axis that begin a step apart; their places become the last axis.
Values unfold(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dimension"));
  const NodeId frames = exported::framed(call, x, at, call.integer("size"), call.integer("step"));
  Dims order;
  for (int axis = 0; axis < call.rank(frames); ++axis)
    if (axis != at + 1) order.push_back(axis);
  order.push_back(at + 1);
  return one(call.transpose(frames, order));
}

namespace {

// Tensors to put beside each other, in the type in which they meet.
std::vector<NodeId> parts_of(const Call& call) {
  std::vector<NodeId> parts = call.tensors("tensors");
  return parts.empty() ? parts : call.in_common_type(std::move(parts));
}

}  // namespace

Values cat(const Call& call) {
  std::vector<NodeId> parts = parts_of(call);
  // PyTorch leaves out empty parts of one axis, whatever the others' rank.
  std::erase_if(parts, [&](NodeId part) { return call.shape(part) == Shape{0} && parts.size() > 1; });
  return one(call.concat(parts, call.integer("dim", 0)));
}
Values stack(const Call& call) {
  std::vector<NodeId> parts = parts_of(call);
  const int64_t at = call.integer("dim", 0);
  for (NodeId& part : parts) part = call.unsqueeze(part, at);
  return one(call.concat(parts, at < 0 ? at + call.rank(parts.at(0)) : at));
}

namespace {

// Vectors are rows of one.
NodeId with_axes(const Call& call, NodeId x, int rank) {
  while (call.rank(x) < rank) x = call.unsqueeze(x, call.rank(x) >= 2 ? call.rank(x) : 0);
  return x;
}
Values stacked(const Call& call, int rank, int64_t axis) {
  std::vector<NodeId> parts = parts_of(call);
  for (NodeId& part : parts) part = with_axes(call, part, rank);
  return one(call.concat(parts, call.rank(parts.at(0)) == 1 ? 0 : axis));
}

}  // namespace

Values hstack(const Call& call) { return stacked(call, 1, 1); }
Values vstack(const Call& call) { return stacked(call, 2, 0); }
Values dstack(const Call& call) { return stacked(call, 3, 2); }

// This many parts, of which the first are longer by one, or cuts at these places.
Values tensor_split(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", 0));
  const int64_t extent = call.shape(x)[at];
  std::vector<int64_t> sizes;
  if (call.has("sections")) {
    const int64_t parts = call.integer("sections");
    if (parts < 1 || parts > exported::kMostMade) refuse("{} parts", parts);
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(extent / parts + (i < extent % parts));
    return several(call.split(x, at, sizes));
  }
  std::vector<int64_t> cuts = call.integers("indices");
  cuts.push_back(extent);
  std::vector<NodeId> parts;
  int64_t begin = 0;
  for (const int64_t cut : cuts) {
    parts.push_back(call.Emit::slice(x, at, begin, cut));
    begin = cut;
  }
  return several(parts);
}

Values split(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", 0));
  if (call.has("split_sizes")) return several(call.split(x, at, call.integers("split_sizes")));
  const Value* given = call.find("split_size");
  if (given && std::holds_alternative<Values>(given->is))
    return several(call.split(x, at, call.integers("split_size")));
  return several(call.split_evenly(x, at, call.integer("split_size")));
}
Values chunk(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", 0));
  const int64_t chunks = call.integer("chunks"), extent = call.shape(x)[at];
  if (chunks < 1) refuse("{} chunks", chunks);
  return several(call.split_evenly(x, at, std::max<int64_t>(1, (extent + chunks - 1) / chunks)));
}
Values unbind(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", 0));
  std::vector<NodeId> all;
  for (int64_t i = 0; i < call.shape(x)[at]; ++i) all.push_back(call.select_index(x, at, i));
  return several(all);
}

Values embedding(const Call& call) { return one(call.gather(call.tensor("weight"), call.tensor("indices"), 0)); }
Values index_select(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim"));
  return one(call.gather(x, call.counted_from_front(call.tensor("index"), call.shape(x)[at]), at));
}

Values gather(const Call& call) {
  return one(call.gather_elements(call.tensor("self"), call.tensor("index"), call.integer("dim")));
}

// Each vector along an axis of its own, the same along the others.
Values meshgrid(const Call& call) {
  const std::vector<NodeId> vectors = call.tensors("tensors");
  const std::string order = call.text("indexing", "ij");
  if (order != "ij" && order != "xy") refuse("indexing: got '{}', wanted 'ij' or 'xy'", order);
  std::vector<int64_t> extents;
  for (NodeId x : vectors) extents.push_back(call.type(x).elements());
  const auto axis_of = [&](size_t i) { return order == "xy" && i < 2 && vectors.size() > 1 ? 1 - i : i; };
  Shape whole = call.dims(extents);
  for (size_t i = 0; i < vectors.size(); ++i) whole[static_cast<int>(axis_of(i))] = extents[i];
  std::vector<NodeId> grids;
  for (size_t i = 0; i < vectors.size(); ++i) {
    Shape own = Dims::filled(whole.rank(), 1);
    own[static_cast<int>(axis_of(i))] = extents[i];
    grids.push_back(call.broadcast(call.reshape(vectors[i], own), whole));
  }
  return several(grids);
}

Values slice_scatter(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", 0));
  const int64_t begin = call.integer("start", 0), extent = call.shape(x)[at];
  const int64_t start = std::clamp<int64_t>(begin < 0 ? begin + extent : begin, 0, extent);
  return one(put_steps(call, x, call.cast(call.tensor("src"), call.dtype(x)), {at, start, call.integer("step", 1)}));
}
Values select_scatter(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim"));
  const int64_t index = call.integer("index");
  const NodeId part = call.unsqueeze(call.cast(call.tensor("src"), call.dtype(x)), at);
  return one(call.replaced(x, part, at, index < 0 ? index + call.shape(x)[at] : index));
}

Values fliplr(const Call& call) { return one(call.reversed(call.tensor("self"), 1)); }
Values flipud(const Call& call) { return one(call.reversed(call.tensor("self"), 0)); }
// Quarter turns from the first axis towards the second.
Values rot90(const Call& call) {
  const NodeId x = call.tensor("self");
  const std::vector<int64_t> axes = call.integers("dims", {0, 1});
  if (axes.size() != 2) refuse("a turn in {} axes, wanted 2", axes.size());
  switch ((call.integer("k", 1) % 4 + 4) % 4) {
    case 1:
      return one(call.swap_axes(call.reversed(x, axes[1]), axes[0], axes[1]));
    case 2:
      return one(call.reversed(call.reversed(x, axes[0]), axes[1]));
    case 3:
      return one(call.reversed(call.swap_axes(x, axes[0], axes[1]), axes[1]));
    default:
      return one(x);
  }
}

// The elements of a source, in order, where a mask is true.
Values masked_scatter(const Call& call) {
  const NodeId x = call.tensor("self"), source = call.tensor("source");
  const NodeId mask = call.broadcast(call.tensor("mask"), call.shape(x));
  const Shape flat{call.type(x).elements()}, all{call.type(source).elements()};
  const NodeId counted = call.add(CumSum{0}, {call.cast(call.reshape(mask, flat), DType::i64)});
  const NodeId place = call.clamp(call.binary(BinaryKind::sub, counted, call.scalar(1, DType::i64)), 0, std::nullopt);
  const NodeId taken = call.Emit::gather(call.reshape(call.cast(source, call.dtype(x)), all), place, 0);
  return one(call.select(mask, call.reshape(taken, call.shape(x)), x));
}

}  // namespace rung::pt2::operators
