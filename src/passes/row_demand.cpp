// The backward sweep: it finds the rows of its operands that each op reads, given the rows needed of its result.
// SPDX-License-Identifier: Apache-2.0
#include "passes/row_demand.hpp"

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr float kNoWeight = -1e37f;  // exp() of a score this much below another is exactly zero in f32 and f64

NodeId skip_casts(const Graph& graph, NodeId id) {
  while (graph.as<Cast>(id) && graph.single_use(id)) id = graph[id].operands[0];
  return id;
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

// Widens a demand to whole axes where the op cannot work on part of them.
Demand RowDemand::limited(NodeId id, Demand demand) {
  if (demand.is_all() || is_selection(id)) return demand;
  const Semantics semantics = semantics_of(graph_, id);
  for (int axis = 0; axis < graph_.shape(id).rank(); ++axis)
    if (!semantics.is_free(axis) && !is_of_live_keys(id, axis, demand)) demand[axis] = kAllRows;
  return demand;
}

// Returns the rows that are read along one axis of `size`; nothing: no row.
std::optional<RowSet> RowDemand::read_axis(const AxisRead& read, int64_t size, RowSet wanted) {
  if (read.kind == AxisRead::Kind::same) return wanted;
  if (read.kind != AxisRead::Kind::joined || wanted == kAllRows) return kAllRows;
  std::vector<int64_t> rows;
  for (int64_t row : sets.rows(wanted))
    if (row >= read.begin && row < read.begin + size) rows.push_back(row - read.begin);
  if (rows.empty()) return std::nullopt;
  return sets.intern(std::move(rows), size);
}

std::optional<Demand> RowDemand::read_operand(NodeId id, const OperandUse& use, NodeId operand) {
  const Shape& shape = graph_.shape(operand);
  Demand read;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const AxisRead& from = use.axes[static_cast<size_t>(axis)];
    const auto rows = read_axis(from, shape[axis], from.leads_to(from.axis) ? (*computed_[id])[from.axis] : kAllRows);
    if (!rows) return std::nullopt;
    read[axis] = *rows;
  }
  return read;
}

RowDemand::Reads RowDemand::reads(NodeId id) {
  const std::vector<NodeId>& operands = graph_[id].operands;
  Reads reads;
  if (is_selection(id)) return read_selection(id);
  const Semantics semantics = semantics_of(graph_, id);
  for (size_t i = 0; i < operands.size(); ++i) reads.push_back(read_operand(id, semantics.operands[i], operands[i]));
  if (graph_.as<Softmax>(id)) reads[0] = computed_[id];  // see is_of_live_keys()
  if (graph_.as<MatMul>(id)) read_live_keys(id, reads);
  return reads;
}

// Narrows the demand to live keys: neither the weights nor the values of other keys are read.
void RowDemand::read_live_keys(NodeId id, Reads& reads) {
  const std::vector<NodeId>& operands = graph_[id].operands;
  const RowSet queries = (*computed_[id])[graph_.shape(id).rank() - 2];
  const RowSet keys = live_keys(skip_casts(graph_, operands[0]), queries);
  (*reads[0])[graph_.shape(operands[0]).rank() - 1] = keys;
  (*reads[1])[graph_.shape(operands[1]).rank() - 2] = keys;
}

RowDemand::Reads RowDemand::read_selection(NodeId id) {
  Reads reads(graph_[id].operands.size(), Demand{});
  NodeId x = graph_[id].operands[0];
  const Demand& demand = *computed_[id];
  reads[0] = demand;
  const auto* slice = graph_.as<Slice>(id);
  int axis = axis_in(graph_, x, slice ? slice->axis : graph_.as<Gather>(id)->axis);
  std::vector<int64_t> rows;
  for (int64_t row : sets.rows(demand[axis], graph_.shape(id)[axis]))
    rows.push_back(slice ? slice->begin + row * slice->step : selections_.at(id)[static_cast<size_t>(row)]);
  (*reads[0])[axis] = sets.intern(std::move(rows), graph_.shape(x)[axis]);
  return reads;
}

// A softmax may leave out the keys that its mask gives no weight: the weights of other keys stay as they are.
bool RowDemand::is_of_live_keys(NodeId id, int axis, const Demand& demand) {
  const auto* softmax = graph_.as<Softmax>(id);
  return softmax && axis > 0 && axis == graph_.shape(id).rank() - 1 && axis == axis_in(graph_, id, softmax->axis) &&
         demand[axis] == live_keys(id, demand[axis - 1]);
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

// Returns the keys that the mask leaves to any of the queries. A query whose keys are all masked spreads its weight
// over all of them, or is NaN: then every key counts.
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
