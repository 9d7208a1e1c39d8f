// Turns rotary position embedding, as its author writes it, into one op.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// Columns [begin, end) of the heads in `whole`.
struct Columns {
  NodeId whole;
  int64_t begin, end;
};

// Returns the columns that x is of `whole`: all of its own, or a slice of another value's; nullopt: neither.
std::optional<Columns> columns_of(const Graph& graph, NodeId x, NodeId whole) {
  if (x == whole) return Columns{x, 0, graph.shape(x).back()};
  const auto* slice = graph.as<Slice>(x);
  if (!slice || graph[x].operands[0] != whole || slice->step != 1) return std::nullopt;
  if (axis_in(graph, whole, slice->axis) != graph.shape(whole).rank() - 1) return std::nullopt;
  return Columns{whole, slice->begin, slice->end};
}

bool is_half(const Graph& graph, NodeId id, const Columns& all, bool upper) {
  const auto half = columns_of(graph, id, all.whole);
  const int64_t size = all.end - all.begin, begin = all.begin + (upper ? size / 2 : 0);
  return half && size % 2 == 0 && half->begin == begin && half->end == begin + size / 2;
}

// x * cos + concat(-upper, lower) * sin, where the halves are slices of "whole"
Pattern rope_of(Pattern x) {
  Pattern turned =
      op<Concat>(unary(UnaryKind::neg, op<Slice>(any("whole")).named("upper")), op<Slice>(any("whole")).named("lower"))
          .named("turned");
  return binary(BinaryKind::add, binary(BinaryKind::mul, std::move(turned), any("sin")).one_use(),
                binary(BinaryKind::mul, std::move(x), any("cos")).one_use());
}

// x * cos + concat(-x[D/2:], x[:D/2]) * sin  =>  rope(x, cos, sin)      cos and sin broadcast to x, which may be the
// first columns of longer heads
bool make_rope(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kWhole = rope_of(any("whole")), kPart = rope_of(op<Slice>(any("whole")).named("x"));
  auto m = match(graph, id, kWhole);
  if (!m) m = match(graph, id, kPart);
  if (!m) return false;
  NodeId x = m->has("x") ? (*m)["x"] : (*m)["whole"], turned = (*m)["turned"];
  const auto columns = columns_of(graph, x, (*m)["whole"]);
  if (!columns || !(graph.type(x) == graph.type(id)) || !is_half(graph, (*m)["upper"], *columns, true) ||
      !is_half(graph, (*m)["lower"], *columns, false))
    return false;
  if (axis_in(graph, turned, graph.as<Concat>(turned)->axis) != graph.shape(x).rank() - 1) return false;
  std::vector<NodeId> operands{x, (*m)["cos"], (*m)["sin"]};
  if (!context.kernel_for(graph, Rope{}, operands)) return false;
  replace(graph, id, Rope{}, std::move(operands));
  return true;
}

// a * cos - b * sin or a * cos + b * sin: one half of a rotation
Pattern half_of(BinaryKind kind, Pattern a, Pattern b) {
  return binary(kind, binary(BinaryKind::mul, std::move(a), any("cos")).one_use(),
                binary(BinaryKind::mul, std::move(b), any("sin")).one_use())
      .one_use();
}

// concat(lower * cos - upper * sin, upper * cos + lower * sin)  =>  rope(x, concat(cos, cos), concat(sin, sin))
// lower and upper are the halves of x, and cos and sin broadcast to each.
bool join_halves(Graph& graph, PassContext& context, NodeId id) {
  const auto lower = [] { return op<Slice>(any("x")).named("lower"); };
  const auto upper = [] { return op<Slice>(any("x")).named("upper"); };
  static const Pattern kHalves =
      op<Concat>(half_of(BinaryKind::sub, lower(), upper()), half_of(BinaryKind::add, upper(), lower()));
  const auto m = match(graph, id, kHalves);
  if (!m) return false;
  const NodeId x = (*m)["x"], cos = (*m)["cos"], sin = (*m)["sin"];
  const Columns all{x, 0, graph.shape(x).back()};
  const int last = graph.shape(x).rank() - 1;
  const bool joins = axis_in(graph, id, graph.as<Concat>(id)->axis) == last && graph.type(id) == graph.type(x);
  if (!joins || !is_half(graph, (*m)["lower"], all, false) || !is_half(graph, (*m)["upper"], all, true)) return false;
  Insertion here(graph, id);
  const auto twice = [&](NodeId angles) {
    const int axis = graph.shape(angles).rank() - 1;
    return axis < 0 || graph.shape(angles)[axis] * 2 != all.end
               ? kNoNode
               : graph.add(Concat{axis}, {angles, angles}, graph[angles].label);
  };
  std::vector<NodeId> operands{x, twice(cos), twice(sin)};
  if (operands[1] == kNoNode || operands[2] == kNoNode || !context.kernel_for(graph, Rope{}, operands)) {
    for (NodeId added : {operands[1], operands[2]})
      if (added != kNoNode) erase_unused(graph, added);
    return false;
  }
  replace(graph, id, Rope{}, std::move(operands));
  return true;
}

// cast(rope(cast(x: T) to f32, cos, sin)) to T  =>  rope(x, cos, sin)      which computes in f32 and rounds once
bool drop_casts(Graph& graph, PassContext& context, NodeId id) {
  static const Pattern kCasts = op<Cast>(op<Rope>(op<Cast>(any("x")).named("wide"), any("cos"), any("sin")).one_use());
  const auto m = match(graph, id, kCasts);
  if (!m) return false;
  const NodeId x = (*m)["x"];
  const DType narrow = graph.type(x).dtype;
  const bool widens = is_float(narrow) && size_of(narrow) < size_of(DType::f32);
  if (!widens || graph.type((*m)["wide"]).dtype != DType::f32 || graph.type(id).dtype != narrow) return false;
  std::vector<NodeId> operands{x, (*m)["cos"], (*m)["sin"]};
  if (!context.kernel_for(graph, Rope{}, operands)) return false;
  replace(graph, id, Rope{}, std::move(operands));
  return true;
}

}  // namespace

Status recognise_rope(Graph& graph, PassContext& context) {
  size_t found = 0;
  for_each_node(graph, [&](NodeId id) { found += make_rope(graph, context, id) || join_halves(graph, context, id); });
  for_each_node(graph, [&](NodeId id) { drop_casts(graph, context, id); });
  if (found)
    context.notes.add("{}",
                      words::counted(found, "rotary embedding became one op", "rotary embeddings became one op each"));
  return {};
}

}  // namespace rung::passes
