// Drops ops that do nothing and joins views of views. Its rewrites keep every value bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/simplify.hpp"

namespace rung::passes {
namespace {

bool is_uniform(const Graph& graph, NodeId id, double value) { return uniform_value(graph, id) == value; }

// mul(x, 1), mul(1, x), div(x, 1), add(x, 0), add(0, x), sub(x, 0)  =>  x      x has the result's type
bool drop_neutral_operand(Graph& graph, NodeId id) {
  const auto* binary = graph.as<Binary>(id);
  if (!binary) return false;
  bool product = binary->kind == BinaryKind::mul || binary->kind == BinaryKind::div;
  bool sum = binary->kind == BinaryKind::add || binary->kind == BinaryKind::sub;
  bool commutes = binary->kind == BinaryKind::mul || binary->kind == BinaryKind::add;
  if (!product && !sum) return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    NodeId kept = graph[id].operands[i], neutral = graph[id].operands[1 - i];
    if (i == 1 && !commutes) break;
    if (graph.type(kept) == graph.type(id) && is_uniform(graph, neutral, product ? 1.0 : 0.0))
      return replace_with(graph, id, kept);
  }
  return false;
}

// Returns whether every value of `from` is a value of `to`.
bool is_widening(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  bool byte = from == DType::i8 || from == DType::u8;
  switch (to) {
    case DType::f32:
      return from == DType::f16 || from == DType::bf16 || byte;
    case DType::i64:
      return from == DType::i32 || byte;
    case DType::i32:
      return byte;
    default:
      return false;
  }
}

// cast(x, to)  =>  x                          x has that type already
// cast(cast(x, wide), to)  =>  cast(x, to)    wide holds every value of x's type
bool drop_cast(Graph& graph, NodeId id) {
  const auto* cast = graph.as<Cast>(id);
  if (!cast) return false;
  NodeId x = graph[id].operands[0];
  if (graph.type(x).dtype == cast->to) return replace_with(graph, id, x);
  const auto* inner = graph.as<Cast>(x);
  if (!inner) return false;
  NodeId source = graph[x].operands[0];
  if (!is_widening(graph.type(source).dtype, inner->to)) return false;
  replace(graph, id, Cast{cast->to}, {source});
  return true;
}

// reshape(reshape(x)), reshape(x) to x's own shape  =>  at most one reshape
bool join_reshapes(Graph& graph, NodeId id) {
  const auto* reshape = graph.as<Reshape>(id);
  if (!reshape) return false;
  NodeId x = graph[id].operands[0];
  if (graph.shape(x) == reshape->shape) return replace_with(graph, id, x);
  if (!graph.as<Reshape>(x)) return false;
  Shape shape = reshape->shape;
  Insertion here(graph, id);
  return replace_with(graph, id, reshaped(graph, x, shape, graph[id].label));
}

// Returns whether x is a reshape that merges leading axes into one and leaves the last two as they are.
bool merges_leading(const Graph& graph, NodeId x) {
  if (!graph.as<Reshape>(x) || graph.shape(x).rank() != 3) return false;
  const Shape& source = graph.shape(graph[x].operands[0]);
  return source.rank() > 3 && source.back(1) == graph.shape(x)[1] && source.back() == graph.shape(x)[2];
}

bool stands_parted(const Graph& graph, NodeId merged, const Shape& leading) {
  const Shape& source = graph.shape(graph[merged].operands[0]);
  return source.rank() == leading.rank() + 2 && std::equal(leading.begin(), leading.end(), source.begin());
}

NodeId with_leading(Graph& graph, NodeId x, Shape leading) {
  leading.push_back(graph.shape(x)[1]);
  leading.push_back(graph.shape(x)[2]);
  return reshaped(graph, x, leading, graph[x].label);
}

// reshape(matmul(reshape(a), reshape(b)))  =>  matmul(a, reshape(b))      the inner reshapes merge leading axes into
// one batch, and the outer one parts them again as they were in a or b
bool part_batches(Graph& graph, NodeId id) {
  const auto* apart = graph.as<Reshape>(id);
  const NodeId product = graph[id].operands.empty() ? kNoNode : graph[id].operands[0];
  if (!apart || apart->shape.rank() < 4 || !graph.as<MatMul>(product) || !graph.single_use(product)) return false;
  if (graph.shape(product).back(1) != apart->shape.back(1) || graph.shape(product).back() != apart->shape.back())
    return false;
  const Shape leading{std::span(apart->shape.begin(), apart->shape.end() - 2)};
  const NodeId a = graph[product].operands[0], b = graph[product].operands[1];
  if (!merges_leading(graph, a) || !merges_leading(graph, b)) return false;
  if (!stands_parted(graph, a, leading) && !stands_parted(graph, b, leading)) return false;
  Insertion here(graph, id);
  const std::string label = graph[product].label;
  const NodeId whole = replace(graph, id, MatMul{}, {with_leading(graph, a, leading), with_leading(graph, b, leading)});
  graph.set_label(whole, label);
  return true;
}

// reshape(transpose(x, [0, 2, 1]))  =>  transpose(reshape(x))      the reshape parts the first axis, and only that
bool part_before_turning(Graph& graph, NodeId id) {
  const auto* apart = graph.as<Reshape>(id);
  const NodeId turned = graph[id].operands.empty() ? kNoNode : graph[id].operands[0];
  const auto* transpose = apart ? graph.as<Transpose>(turned) : nullptr;
  if (!transpose || !(transpose->permutation == Dims{0, 2, 1}) || apart->shape.rank() < 4) return false;
  const Shape& matrices = graph.shape(turned);
  if (apart->shape.back(1) != matrices[1] || apart->shape.back() != matrices[2]) return false;
  Shape shape = apart->shape;
  const int last = shape.rank() - 1;
  std::swap(shape[last - 1], shape[last]);
  Dims swap;
  for (int axis = 0; axis < last - 1; ++axis) swap.push_back(axis);
  swap.push_back(last), swap.push_back(last - 1);
  Insertion here(graph, id);
  const NodeId parted = reshaped(graph, graph[turned].operands[0], shape, graph[id].label);
  return replace_with(graph, id, transposed(graph, parted, swap, graph[turned].label));
}

// slice(reshape(x))  =>  reshape(slice(x))      the reshape parts the last axis of x, and the slice is of its first
// part
bool slice_before_parting(Graph& graph, NodeId id) {
  const auto* slice = graph.as<Slice>(id);
  const NodeId parted = slice ? graph[id].operands[0] : kNoNode;
  if (!slice || !graph.as<Reshape>(parted) || slice->step != 1) return false;
  const NodeId x = graph[parted].operands[0];
  const Shape &whole = graph.shape(x), &parts = graph.shape(parted);
  const int last = whole.rank() - 1;
  if (last < 0 || parts.rank() <= whole.rank() || axis_in(graph, parted, slice->axis) != last) return false;
  if (!std::equal(whole.begin(), whole.end() - 1, parts.begin())) return false;
  if (parts[last] == 0) return false;
  const int64_t width = whole[last] / parts[last];
  Insertion here(graph, id);
  const NodeId columns = graph.add(Slice{last, slice->begin * width, slice->end * width, 1}, {x}, graph[id].label);
  return replace_with(graph, id, graph.add(Reshape{graph.shape(id)}, {columns}, graph[id].label));
}

// transpose(transpose(x, p), q)  =>  transpose(x, p then q)      transpose(x, identity)  =>  x
bool join_transposes(Graph& graph, NodeId id) {
  const auto* transpose = graph.as<Transpose>(id);
  if (!transpose) return false;
  NodeId x = graph[id].operands[0];
  if (!is_identity(transpose->permutation) && !graph.as<Transpose>(x)) return false;
  Dims permutation = transpose->permutation;
  Insertion here(graph, id);
  return replace_with(graph, id, transposed(graph, x, permutation, graph[id].label));
}

// broadcast(x) to x's own shape  =>  x      broadcast(broadcast(x))  =>  broadcast(x)
bool join_broadcasts(Graph& graph, NodeId id) {
  const auto* broadcast = graph.as<Broadcast>(id);
  if (!broadcast) return false;
  NodeId x = graph[id].operands[0];
  if (graph.shape(x) == broadcast->shape) return replace_with(graph, id, x);
  if (!graph.as<Broadcast>(x)) return false;
  replace(graph, id, Broadcast{broadcast->shape}, {graph[x].operands[0]});
  return true;
}

// slice of everything  =>  x      slice(slice(x)) along one axis  =>  slice(x)
bool join_slices(Graph& graph, NodeId id) {
  const auto* slice = graph.as<Slice>(id);
  if (!slice) return false;
  NodeId x = graph[id].operands[0];
  if (graph.shape(x) == graph.shape(id) && slice->step == 1) return replace_with(graph, id, x);
  const auto* inner = graph.as<Slice>(x);
  int axis = axis_in(graph, x, slice->axis);
  if (!inner || axis_in(graph, x, inner->axis) != axis || graph.shape(id)[axis] == 0) return false;
  int64_t begin = inner->begin + slice->begin * inner->step, step = slice->step * inner->step;
  int64_t end = begin + (graph.shape(id)[axis] - 1) * step + 1;
  replace(graph, id, Slice{axis, begin, end, step}, {graph[x].operands[0]});
  return true;
}

// slice(concat(a, b, ...))  =>  slice of the one part that holds all its rows      same axis, step 1
bool slice_one_part(Graph& graph, NodeId id) {
  const auto* slice = graph.as<Slice>(id);
  if (!slice || slice->step != 1) return false;
  NodeId x = graph[id].operands[0];
  const auto* concat = graph.as<Concat>(x);
  int axis = axis_in(graph, x, slice->axis);
  if (!concat || axis_in(graph, x, concat->axis) != axis) return false;
  int64_t begin = slice->begin, end = slice->end;
  for (NodeId part : graph[x].operands) {
    int64_t size = graph.shape(part)[axis];
    if (begin >= 0 && end <= size) {
      replace(graph, id, Slice{axis, begin, end, 1}, {part});
      return true;
    }
    begin -= size, end -= size;
  }
  return false;
}

// concat(x)  =>  x      concat(slice(x, [a:b]), slice(x, [b:c]), ...)  =>  slice(x, [a:c])
bool join_concat(Graph& graph, NodeId id) {
  const auto* concat = graph.as<Concat>(id);
  if (!concat) return false;
  const std::vector<NodeId> parts = graph[id].operands;
  if (parts.size() == 1) return replace_with(graph, id, parts[0]);
  int axis = axis_in(graph, id, concat->axis);
  const auto* first = graph.as<Slice>(parts[0]);
  if (!first) return false;
  int64_t begin = first->begin, end = first->begin;
  NodeId source = graph[parts[0]].operands[0];
  for (NodeId part : parts) {
    const auto* slice = graph.as<Slice>(part);
    if (!slice || graph[part].operands[0] != source || slice->step != 1 || slice->begin != end ||
        axis_in(graph, part, slice->axis) != axis)
      return false;
    end = slice->end;
  }
  replace(graph, id, Slice{axis, begin, end, 1}, {source});
  return true;
}

// gather(x, [a, a+1, ...])  =>  reshape(slice(x, [a:b]))      the indices are constant, in memory and inside x
bool gather_run_as_slice(Graph& graph, NodeId id) {
  const auto* gather = graph.as<Gather>(id);
  if (!gather) return false;
  NodeId x = graph[id].operands[0];
  int axis = axis_in(graph, x, gather->axis);
  auto indices = index_values(graph, graph[id].operands[1]);
  if (!indices || !is_contiguous(*indices) || indices->front() < 0 || indices->back() >= graph.shape(x)[axis])
    return false;
  Insertion here(graph, id);
  const NodeId run = graph.add(Slice{axis, indices->front(), indices->back() + 1, 1}, {x}, graph[id].label);
  return replace_with(graph, id, reshaped(graph, run, graph.shape(id), graph[id].label));
}

// select(always, a, b)  =>  a      select(c, a, a)  =>  a      the kept side has the result's type
bool decide_select(Graph& graph, NodeId id) {
  if (!graph.as<Select>(id)) return false;
  const std::vector<NodeId> operands = graph[id].operands;
  auto condition = uniform_value(graph, operands[0]);
  if (!condition && operands[1] != operands[2]) return false;
  NodeId kept = condition == 0.0 ? operands[2] : operands[1];
  return graph.type(kept) == graph.type(id) && replace_with(graph, id, kept);
}

// neg(neg(x))  =>  x      not(not(x))  =>  x
bool cancel_involution(Graph& graph, NodeId id) {
  const auto* outer = graph.as<Unary>(id);
  if (!outer || (outer->kind != UnaryKind::neg && outer->kind != UnaryKind::logical_not)) return false;
  NodeId x = graph[id].operands[0];
  const auto* inner = graph.as<Unary>(x);
  return inner && inner->kind == outer->kind && replace_with(graph, id, graph[x].operands[0]);
}

// add(broadcast(x), y)  =>  add(x, y)      any element-wise op whose result keeps its shape without the broadcast
bool broadcast_implicitly(Graph& graph, NodeId id) {
  if (!as<Binary>(graph[id].op) && !as<Select>(graph[id].op)) return false;
  const std::vector<NodeId> operands = graph[id].operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!graph.as<Broadcast>(operands[i])) continue;
    std::vector<NodeId> changed = operands;
    changed[i] = graph[operands[i]].operands[0];
    auto type = graph.infer(graph[id].op, changed);
    if (!type || !(*type == graph.type(id))) continue;
    replace(graph, id, graph[id].op, std::move(changed));
    return true;
  }
  return false;
}

// tanh(broadcast(x))  =>  broadcast(tanh(x))      any function of one value, casts included
bool broadcast_late(Graph& graph, NodeId id) {
  if (!graph.as<Unary>(id) && !graph.as<Cast>(id)) return false;
  NodeId wide = graph[id].operands[0];
  if (!graph.as<Broadcast>(wide)) return false;
  Insertion here(graph, id);
  NodeId narrow = graph.add(graph[id].op, {graph[wide].operands[0]}, graph[id].label);
  return replace_with(graph, id, graph.add(Broadcast{graph.shape(id)}, {narrow}, graph[wide].label));
}

constexpr bool (*kRules[])(Graph&, NodeId) = {
    drop_neutral_operand, drop_cast,     join_reshapes,       join_transposes,
    join_broadcasts,      join_slices,   slice_one_part,      join_concat,
    gather_run_as_slice,  decide_select, cancel_involution,   broadcast_implicitly,
    broadcast_late,       part_batches,  part_before_turning, slice_before_parting,
};

}  // namespace

bool simplify_node(Graph& graph, NodeId id) {
  for (auto rule : kRules)
    if (rule(graph, id)) return true;
  return false;
}

Status simplify(Graph& graph, PassContext&) {
  for (NodeId id = graph.first(); id != kNoNode;) {
    NodeId before = graph[id].previous;
    if (!simplify_node(graph, id)) {
      id = graph[id].next;
      continue;
    }
    // The new node stands after the nearest live node before the old one, and may simplify again. Erased nodes keep
    // their links, so the way back from one still leads to the front.
    while (before != kNoNode && !graph[before].alive) before = graph[before].previous;
    id = before == kNoNode ? graph.first() : graph[before].next;
  }
  return {};
}

}  // namespace rung::passes
