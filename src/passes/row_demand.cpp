// The backward sweep: what each op reads of its operands, given which rows of its result are needed.
// SPDX-License-Identifier: Apache-2.0
#include "passes/row_demand.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr float kNoWeight = -1e37f;  // exp() of a score this much below another is exactly zero in f32 and f64

// The axis of `from` that holds the same rows as axis `axis` of `to`, for a reshape between them; -1 if there is none.
int same_axis(const Shape& to, int axis, const Shape& from) {
  int64_t before = 1;
  for (int i = 0; i < axis; ++i) before *= to[i];
  int64_t product = 1;
  for (int i = 0; i < from.rank(); ++i) {
    if (product == before && from[i] == to[axis] && to[axis] > 1) return i;
    product *= from[i];
  }
  return -1;
}

NodeId skip_casts(const Graph& graph, NodeId id) {
  while (graph.as<Cast>(id) && graph.single_use(id)) id = graph[id].operands[0];
  return id;
}

bool is_broadcasting(const Op& op) {
  return is_elementwise(op) || as<Broadcast>(op) || as<Rope>(op) || as<GatedMul>(op) || as<Pointwise>(op);
}

}  // namespace

RowDemand::RowDemand(const Graph& graph) : graph_(graph), wanted_(graph.capacity()), computed_(graph.capacity()) {
  for (NodeId id : graph.order()) {
    const auto* gather = graph.as<Gather>(id);
    if (!gather || graph.shape(graph[id].operands[1]).rank() != 1) continue;
    auto rows = index_values(graph, graph[id].operands[1]);
    int64_t size = graph.shape(graph[id].operands[0])[axis_in(graph, graph[id].operands[0], gather->axis)];
    bool ascends =
        rows && !rows->empty() && std::adjacent_find(rows->begin(), rows->end(), std::greater_equal<>()) == rows->end();
    if (ascends && rows->front() >= 0 && rows->back() < size) selections_[id] = std::move(*rows);
  }
  for (const Output& output : graph.outputs()) want(output.node, {});
  for (NodeId id = graph.last(); id != kNoNode; id = graph[id].previous) {
    if (!wanted_[id]) continue;
    computed_[id] = limited(id, *wanted_[id]);
    Reads operands = reads(id);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i]) want(graph[id].operands[i], *operands[i]);
  }
}

bool RowDemand::is_selection(NodeId id) const { return graph_.as<Slice>(id) || selections_.contains(id); }

void RowDemand::want(NodeId id, const Demand& demand) {
  if (!wanted_[id]) {
    wanted_[id] = demand;
    return;
  }
  const Shape& shape = graph_.shape(id);
  for (int axis = 0; axis < shape.rank(); ++axis)
    (*wanted_[id])[axis] = sets.unite((*wanted_[id])[axis], demand[axis], shape[axis]);
}

// Widens a demand to whole axes where the op mixes rows.
Demand RowDemand::limited(NodeId id, Demand demand) {
  const Op& op = graph_[id].op;
  int rank = graph_.shape(id).rank();
  auto only = [&](auto allows) {
    for (int axis = 0; axis < rank; ++axis)
      if (!allows(axis)) demand[axis] = kAllRows;
    return demand;
  };
  if (const auto* softmax = as<Softmax>(op)) {
    int mixed = axis_in(graph_, id, softmax->axis);
    bool unweighted = mixed == rank - 1 && rank >= 2 && demand[mixed] == live_keys(id, demand[rank - 2]);
    return only([&](int axis) { return axis != mixed || unweighted; });
  }
  if (const auto* cumsum = as<CumSum>(op))
    return only([&](int axis) { return axis != axis_in(graph_, id, cumsum->axis); });
  if (as<Linear>(op) || as<LayerNorm>(op) || as<RmsNorm>(op) || as<L2Normalize>(op) || as<Rope>(op))
    return only([&](int axis) { return axis != rank - 1; });
  if (as<Conv2d>(op) || as<Im2col>(op)) return only([](int axis) { return axis == 0; });
  if (as<Attention>(op)) return only([](int axis) { return axis == 1; });
  if (as<Reshape>(op))
    return only([&](int axis) { return same_axis(graph_.shape(id), axis, graph_.shape(graph_[id].operands[0])) >= 0; });
  bool passes = is_broadcasting(op) || as<MatMul>(op) || as<Transpose>(op) || as<Slice>(op) || as<Concat>(op) ||
                as<Gather>(op) || as<Reduce>(op);
  return only([&](int) { return passes; });
}

// Axes align at the back; an operand's axis of one row serves all.
Demand RowDemand::broadcast_read(NodeId id, const Demand& demand, NodeId operand) const {
  const Shape &shape = graph_.shape(operand), &result = graph_.shape(id);
  Demand read;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    int aligned = axis + result.rank() - shape.rank();
    if (shape[axis] == result[aligned]) read[axis] = demand[aligned];
  }
  return read;
}

RowDemand::Reads RowDemand::reads(NodeId id) {
  const Op& op = graph_[id].op;
  const std::vector<NodeId>& operands = graph_[id].operands;
  const Demand& demand = *computed_[id];
  Reads reads(operands.size(), Demand{});
  int rank = graph_.shape(id).rank();
  if (is_broadcasting(op)) {
    for (size_t i = 0; i < operands.size(); ++i) reads[i] = broadcast_read(id, demand, operands[i]);
  } else if (as<MatMul>(op)) {
    read_matmul(id, demand, reads);
  } else if (as<Concat>(op)) {
    read_concat(id, demand, reads);
  } else if (is_selection(id)) {
    read_selection(id, demand, reads);
  } else if (as<Gather>(op)) {
    read_gather(id, demand, reads);
  } else if (as<Attention>(op)) {
    read_attention(id, demand, reads);
  } else if (const auto* transpose = as<Transpose>(op)) {
    for (int axis = 0; axis < rank; ++axis) (*reads[0])[static_cast<int>(transpose->permutation[axis])] = demand[axis];
  } else if (as<Reshape>(op)) {
    for (int axis = 0; axis < rank; ++axis)
      if (demand[axis] != kAllRows)
        (*reads[0])[same_axis(graph_.shape(id), axis, graph_.shape(operands[0]))] = demand[axis];
  } else if (const auto* reduce = as<Reduce>(op)) {
    int reduced = axis_in(graph_, operands[0], reduce->axis);
    for (int axis = 0; axis < graph_.shape(operands[0]).rank(); ++axis)
      if (axis != reduced) (*reads[0])[axis] = demand[axis > reduced && !reduce->keep_dim ? axis - 1 : axis];
  } else if (!operands
                  .empty()) {  // rows of x alone: linear, norms, cumsum, conv2d, im2col; softmax, too, see limited()
    reads[0] = demand;
    const auto* linear = as<Linear>(op);
    const auto* norm = as<LayerNorm>(op);
    if (linear)
      for (LinearSlot slot : {LinearSlot::residual, LinearSlot::cos, LinearSlot::sin, LinearSlot::squares})
        if (linear->has(slot)) *linear->find(reads, slot) = demand;
    if (norm && norm->has_residual) reads[1] = demand;
  }
  return reads;
}

// Of keys without weight neither the weights nor the values are read.
void RowDemand::read_matmul(NodeId id, const Demand& demand, Reads& reads) {
  int rank = graph_.shape(id).rank();
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Shape& shape = graph_.shape(graph_[id].operands[i]);
    int offset = rank - shape.rank();
    for (int axis = 0; axis < shape.rank() - 2; ++axis)
      if (shape[axis] == graph_.shape(id)[axis + offset]) (*reads[i])[axis] = demand[axis + offset];
    int kept = i == 0 ? shape.rank() - 2 : shape.rank() - 1;
    (*reads[i])[kept] = demand[kept + offset];
  }
  RowSet keys = live_keys(skip_casts(graph_, graph_[id].operands[0]), demand[rank - 2]);
  (*reads[0])[graph_.shape(graph_[id].operands[0]).rank() - 1] = keys;
  (*reads[1])[graph_.shape(graph_[id].operands[1]).rank() - 2] = keys;
}

void RowDemand::read_concat(NodeId id, const Demand& demand, Reads& reads) {
  int joined = axis_in(graph_, id, graph_.as<Concat>(id)->axis);
  int64_t begin = 0;
  for (size_t i = 0; i < reads.size(); ++i) {
    reads[i] = demand;
    int64_t size = graph_.shape(graph_[id].operands[i])[joined], end = begin + size;
    if (demand[joined] != kAllRows) {
      std::vector<int64_t> part;
      for (int64_t row : sets.rows(demand[joined]))
        if (row >= begin && row < end) part.push_back(row - begin);
      if (part.empty())
        reads[i].reset();
      else
        (*reads[i])[joined] = sets.intern(std::move(part), size);
    }
    begin = end;
  }
}

void RowDemand::read_selection(NodeId id, const Demand& demand, Reads& reads) {
  NodeId x = graph_[id].operands[0];
  reads[0] = demand;
  const auto* slice = graph_.as<Slice>(id);
  int axis = axis_in(graph_, x, slice ? slice->axis : graph_.as<Gather>(id)->axis);
  std::vector<int64_t> rows;
  for (int64_t row : sets.rows(demand[axis], graph_.shape(id)[axis]))
    rows.push_back(slice ? slice->begin + row * slice->step : selections_.at(id)[static_cast<size_t>(row)]);
  (*reads[0])[axis] = sets.intern(std::move(rows), graph_.shape(x)[axis]);
}

// The result's axes are x's, with the indices' in place of the gathered one.
void RowDemand::read_gather(NodeId id, const Demand& demand, Reads& reads) {
  NodeId x = graph_[id].operands[0], indices = graph_[id].operands[1];
  int gathered = axis_in(graph_, x, graph_.as<Gather>(id)->axis), inserted = graph_.shape(indices).rank();
  for (int axis = 0; axis < graph_.shape(x).rank(); ++axis)
    if (axis != gathered) (*reads[0])[axis] = demand[axis < gathered ? axis : axis - 1 + inserted];
  for (int axis = 0; axis < inserted; ++axis) (*reads[1])[axis] = demand[gathered + axis];
}

void RowDemand::read_attention(NodeId id, const Demand& demand, Reads& reads) {
  (*reads[0])[1] = demand[1];
  if (!graph_.as<Attention>(id)->has_mask) return;
  const Shape& mask = graph_.shape(graph_[id].operands[1]);
  if (mask.rank() >= 2 && mask.back(1) == graph_.shape(id)[1]) (*reads[1])[mask.rank() - 2] = demand[1];
}

RowSet RowDemand::live_keys(NodeId weights, RowSet queries) {
  const auto* softmax = graph_.as<Softmax>(weights);
  if (!softmax || !graph_.single_use(weights)) return kAllRows;
  const Shape& shape = graph_.shape(weights);
  if (shape.rank() < 2 || axis_in(graph_, weights, softmax->axis) != shape.rank() - 1) return kAllRows;
  NodeId sum = skip_casts(graph_, graph_[weights].operands[0]);
  const auto* add = graph_.as<Binary>(sum);
  if (!add || add->kind != BinaryKind::add) return kAllRows;
  for (NodeId mask : graph_[sum].operands)
    if (graph_.is_constant(mask) && graph_.weight(mask)->immediate() && graph_.shape(mask).rank() >= 1 &&
        graph_.shape(mask).back() == shape.back())
      return unmasked(mask, queries, shape.back());
  return kAllRows;
}

// A query whose keys are all masked spreads its weight over all of them, or is NaN: then every key counts.
RowSet RowDemand::unmasked(NodeId mask, RowSet queries, int64_t keys) {
  auto [it, is_new] = unmasked_.try_emplace({mask, queries}, kAllRows);
  if (!is_new) return it->second;
  auto stored = graph_.weight(mask)->load();
  if (!stored) return kAllRows;
  Tensor values = convert(*stored, DType::f32);
  const Shape& shape = graph_.shape(mask);
  int64_t rows = shape.rank() >= 2 ? shape.back(1) : 1, planes = rows && keys ? shape.product() / rows / keys : 0;
  std::vector<int64_t> needed = sets.rows(rows == 1 ? kAllRows : queries, rows);
  std::vector<bool> live(static_cast<size_t>(keys));
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t row : needed) {
      const float* line = values.as<float>().data() + (plane * rows + row) * keys;
      if (std::all_of(line, line + keys, [](float v) { return v <= kNoWeight; })) return kAllRows;
      for (int64_t key = 0; key < keys; ++key)
        if (!(line[key] <= kNoWeight)) live[static_cast<size_t>(key)] = true;
    }
  }
  std::vector<int64_t> kept;
  for (int64_t key = 0; key < keys; ++key)
    if (live[static_cast<size_t>(key)]) kept.push_back(key);
  return it->second = sets.intern(std::move(kept), keys);
}

}  // namespace rung::passes
