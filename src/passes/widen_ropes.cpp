// Lets whole heads rotate where an author rotates only their first columns, as products and ropes do.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "passes/rotated_columns.hpp"

namespace rung::passes {
namespace {

struct ColumnRange {
  int64_t begin, end;
};

// Columns of each head of a product: reshape(columns of the linear, [..., H, W]), of whose W columns [begin, end).
struct Heads {
  NodeId linear, all;  // all: the reshape
  int64_t first;       // column of the linear at which the first head begins
  ColumnRange columns;
};

// concat(rope(the first columns of heads), their other columns)
struct Turned {
  NodeId concat, rope;
  Heads heads;
  int64_t rotated;  // columns of a head
};

class RopeWidener {
 public:
  RopeWidener(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  // attention(concat(rope(q[:r]), q[r:]), concat(rope(k[:r]), k[r:]), v)  =>  attention(rope(q'), rope(k'), v)
  //   q' and k' are products whose rows of weights are in another order, the same in every head, so that columns which
  //   rotate together stand half a head apart; the other columns rotate by an angle of 0. The scores are the same sums.
  //   The weights are constants, and nothing else reads the products, but perhaps v, which becomes one of its own.
  bool widen(NodeId id) {
    const auto* op = graph_.as<Attention>(id);
    if (!op || op->segments != 1) return false;
    const size_t first = op->first_key();
    const auto q = turned(graph_[id].operands[0]), k = turned(graph_[id].operands[first]);
    if (!q || !k || q->rotated != k->rotated) return false;
    auto v = heads_of(graph_[id].operands[first + 1]);
    if (v && v->linear != q->heads.linear && v->linear != k->heads.linear) v.reset();
    std::set<NodeId> readers{q->rope, q->concat, k->rope, k->concat};
    if (v) readers.insert(id);
    if (!is_read_by(q->heads.linear, readers) || !is_read_by(k->heads.linear, readers)) return false;
    const std::array places{size_t{0}, first, first + 1};
    const std::array heads{turn(*q), turn(*k), v ? apart(*v, {v->columns}) : graph_[id].operands[first + 1]};
    for (size_t i = 0; i < heads.size(); ++i) {
      if (heads[i] == graph_[id].operands[places[i]] || has_kernels(heads[i])) continue;
      for (const NodeId made : heads) erase_unused(graph_, made);
      return false;
    }
    inherit(q->heads.linear, heads[0]);
    inherit(k->heads.linear, heads[1]);
    for (size_t i = 0; i < heads.size(); ++i) read_instead(id, places[i], heads[i]);
    return true;
  }

 private:
  std::optional<Heads> heads_of(NodeId x) const {
    const auto* slice = graph_.as<Slice>(x);
    if (slice && (slice->step != 1 || axis_in(graph_, x, slice->axis) != graph_.shape(x).rank() - 1))
      return std::nullopt;
    const NodeId all = slice ? graph_[x].operands[0] : x;
    const auto found = columns_of_heads(graph_, all);
    if (!found || !is_projection(found->base)) return std::nullopt;
    const ColumnRange columns =
        slice ? ColumnRange{slice->begin, slice->end} : ColumnRange{0, graph_.shape(all).back()};
    return Heads{found->base, all, found->begin, columns};
  }

  bool is_projection(NodeId id) const {
    const auto* linear = graph_.as<Linear>(id);
    const std::vector<NodeId>& operands = graph_[id].operands;
    return linear && linear->is_plain() && std::all_of(operands.begin() + 1, operands.end(), [&](NodeId operand) {
             return operand < constant_.size() && constant_[operand];
           });
  }

  std::optional<Turned> turned(NodeId x) const {
    const auto* concat = graph_.as<Concat>(x);
    if (!concat || graph_[x].operands.size() != 2 || !graph_.single_use(x)) return std::nullopt;
    if (axis_in(graph_, x, concat->axis) != graph_.shape(x).rank() - 1) return std::nullopt;
    const NodeId rope = graph_[x].operands[0];
    if (!graph_.as<Rope>(rope) || !graph_.single_use(rope)) return std::nullopt;
    const auto low = heads_of(graph_[rope].operands[0]), rest = heads_of(graph_[x].operands[1]);
    if (!low || !rest || low->all != rest->all || low->columns.end != rest->columns.begin) return std::nullopt;
    const int64_t rotated = graph_.shape(rope).back();
    for (const size_t i : {size_t{1}, size_t{2}}) {
      const Shape& angles = graph_.shape(graph_[rope].operands[i]);
      if (angles.rank() == 0 || angles.back() != rotated) return std::nullopt;
    }
    if ((rest->columns.end - rest->columns.begin) % 2) return std::nullopt;
    return Turned{x, rope, {low->linear, low->all, low->first, {low->columns.begin, rest->columns.end}}, rotated};
  }

  // Returns whether x, and its views, have no other readers than these.
  bool is_read_by(NodeId x, const std::set<NodeId>& readers) const {
    return !graph_.is_output(x) && std::ranges::all_of(graph_[x].users, [&](NodeId user) {
      const bool view = graph_.as<Slice>(user) || graph_.as<Reshape>(user);
      return readers.contains(user) || (view && is_read_by(user, readers));
    });
  }

  // Returns the heads as a product of their own, with the columns of each head in this order.
  NodeId apart(const Heads& heads, const std::vector<ColumnRange>& order) {
    Insertion here(graph_, heads.linear);
    std::vector<NodeId> operands = graph_[heads.linear].operands;
    for (size_t i = 1; i < operands.size(); ++i) operands[i] = rows_of(operands[i], heads, order);
    const NodeId linear = graph_.add(*graph_.as<Linear>(heads.linear), std::move(operands), graph_[heads.linear].label);
    Shape shape = graph_.shape(heads.all);
    shape[shape.rank() - 1] = graph_.shape(linear).back() / shape.back(1);
    return graph_.add(Reshape{shape}, {linear}, graph_[heads.all].label);
  }

  // Returns the rows of weights [N, K], or of a bias [N], that make these columns of the heads.
  NodeId rows_of(NodeId weights, const Heads& heads, const std::vector<ColumnRange>& order) {
    const std::string label = graph_[weights].label;
    const Shape& all = graph_.shape(heads.all);
    const int64_t count = all.back(1), width = all.back(), end = heads.first + count * width;
    Shape rows = graph_.shape(weights), by_head = rows;
    by_head[0] = count;
    by_head.insert(1, width);
    const NodeId theirs = graph_.add(Slice{0, heads.first, end, 1}, {weights}, label);
    const NodeId apart = graph_.add(Reshape{by_head}, {theirs}, label);
    std::vector<NodeId> parts;
    for (const ColumnRange& range : order)
      parts.push_back(graph_.add(Slice{1, range.begin, range.end, 1}, {apart}, label));
    const NodeId joined = parts.size() == 1 ? parts[0] : graph_.add(Concat{1}, parts, label);
    rows[0] = count * graph_.shape(joined)[1];
    return graph_.add(Reshape{rows}, {joined}, label);
  }

  NodeId turn(const Turned& part) {
    const ColumnRange all = part.heads.columns;
    const int64_t half = all.begin + part.rotated / 2, rest = all.begin + part.rotated,
                  middle = rest + (all.end - rest) / 2;
    const NodeId heads = apart(part.heads, {{all.begin, half}, {rest, middle}, {half, rest}, {middle, all.end}});
    const int64_t size = all.end - all.begin;
    const NodeId cos = widened(graph_[part.rope].operands[1], size, 1),
                 sin = widened(graph_[part.rope].operands[2], size, 0);
    Insertion here(graph_, part.rope);
    return graph_.add(Rope{}, {heads, cos, sin}, graph_[part.rope].label);
  }

  // concat(the lower half of the angles, fill, the upper half, fill), once for all heads that read the angles
  NodeId widened(NodeId angles, int64_t size, float fill) {
    NodeId& wide = wide_.try_emplace({angles, size, fill}, kNoNode).first->second;
    if (wide != kNoNode && graph_[wide].alive) return wide;
    Insertion behind(graph_, graph_[angles].next);
    const std::string label = graph_[angles].label;
    const int axis = graph_.shape(angles).rank() - 1;
    const int64_t rotated = graph_.shape(angles).back();
    Shape others = graph_.shape(angles);
    others[axis] = (size - rotated) / 2;
    const NodeId number = graph_.literal("angle", convert(Tensor::of<float>({}, {fill}), graph_.type(angles).dtype));
    const NodeId lower = graph_.add(Slice{axis, 0, rotated / 2, 1}, {angles}, label),
                 upper = graph_.add(Slice{axis, rotated / 2, rotated, 1}, {angles}, label),
                 filled = graph_.add(Broadcast{others}, {number}, label);
    return wide = graph_.add(Concat{axis}, {lower, filled, upper, filled}, label);
  }

  NodeId product_of(NodeId heads) const {
    return columns_of_heads(graph_, graph_.as<Rope>(heads) ? graph_[heads].operands[0] : heads)->base;
  }

  bool has_kernels(NodeId heads) {
    const Node& product = graph_[product_of(heads)];
    return (!graph_.as<Rope>(heads) || context_.kernel_for(graph_, graph_[heads].op, graph_[heads].operands)) &&
           context_.kernel_for(graph_, product.op, product.operands);
  }

  // Lets the product of these heads stand for the author's, if it made these heads alone.
  void inherit(NodeId written, NodeId heads) {
    const NodeId product = product_of(heads);
    if (!graph_[written].alive || graph_.type(written) != graph_.type(product)) return;
    graph_.replace_uses(written, product);
    erase_unused(graph_, written);
  }

  void read_instead(NodeId attention, size_t operand, NodeId heads) {
    const NodeId old = graph_[attention].operands[operand];
    if (old == heads) return;
    graph_.set_operand(attention, operand, heads);
    erase_unused(graph_, old);
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::map<std::tuple<NodeId, int64_t, float>, NodeId> wide_;
};

}  // namespace

Status widen_ropes(Graph& graph, PassContext& context) {
  RopeWidener widener(graph, context);
  size_t widened = 0;
  for_each_node(graph, [&](NodeId id) { widened += widener.widen(id); });
  if (widened) context.notes.add("whole heads of {} rotate", words::counted(widened, "attention"));
  return {};
}

}  // namespace rung::passes
