// Adds recurrences as one op, or the nodes of every step.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/recurrent.hpp"

#include <algorithm>

namespace rung::exported {
namespace {

NodeId activated(const Emit& emit, const Activation& f, NodeId x) {
  const auto plus = [&](NodeId y, double number) {
    return emit.binary(BinaryKind::add, y, emit.scalar(number, emit.dtype(y)));
  };
  if (f.name == "tanh") return emit.unary(UnaryKind::tanh, x);
  if (f.name == "sigmoid") return emit.unary(UnaryKind::sigmoid, x);
  if (f.name == "relu") return emit.unary(UnaryKind::relu, x);
  if (f.name == "affine") return plus(emit.scale(x, f.alpha), f.beta);
  if (f.name == "scaledtanh") return emit.scale(emit.unary(UnaryKind::tanh, emit.scale(x, f.beta)), f.alpha);
  if (f.name == "hardsigmoid") return emit.clamp(plus(emit.scale(x, f.alpha), f.beta), 0, 1);
  if (f.name == "softsign") return emit.binary(BinaryKind::div, x, plus(emit.unary(UnaryKind::abs, x), 1));
  refuse("activation '{}'", f.name);
}

struct State {
  NodeId h, c;
};

// The steps take what comes in after its product with all gates, [B, G H].
struct Steps {
  const Emit& emit;
  const Recurrence& of;
  int64_t hidden;

  NodeId add(NodeId a, NodeId b) const { return emit.binary(BinaryKind::add, a, b); }
  NodeId mul(NodeId a, NodeId b) const { return emit.binary(BinaryKind::mul, a, b); }
  NodeId part(NodeId x, int64_t i) const { return emit.slice(x, -1, i * hidden, (i + 1) * hidden); }
  NodeId gate(NodeId x, Gate gate) const { return part(x, std::ranges::find(of.gates, gate) - of.gates.begin()); }
  NodeId activate(size_t i, NodeId x) const {
    return activated(emit, of.activations[i], of.clip > 0 ? emit.clamp(x, -of.clip, of.clip) : x);
  }
  NodeId with_state(NodeId x, NodeId h) const {
    const NodeId sum = add(x, emit.matmul(h, of.r));
    return of.rb ? add(sum, *of.rb) : sum;
  }

  State rnn(NodeId x, const State& state) const { return {activate(0, with_state(x, state.h)), state.c}; }
  State gru(NodeId x, const State& state) const {
    const auto from_h = [&](NodeId h, Gate at) {
      const NodeId product = emit.matmul(h, gate(of.r, at));
      return of.rb ? add(product, gate(*of.rb, at)) : product;
    };
    const auto opened = [&](Gate at) { return activate(0, add(gate(x, at), from_h(state.h, at))); };
    const NodeId update = opened(Gate::update), reset = opened(Gate::reset);
    const NodeId inner =
        of.resets_product ? mul(reset, from_h(state.h, Gate::fresh)) : from_h(mul(reset, state.h), Gate::fresh);
    const NodeId fresh = activate(1, add(gate(x, Gate::fresh), inner));
    return {add(fresh, mul(update, emit.binary(BinaryKind::sub, state.h, fresh))), state.c};
  }
  State lstm(NodeId x, const State& state) const {
    const NodeId sum = with_state(x, state.h);
    const auto opened = [&](Gate at, int64_t peep, NodeId c) {
      const NodeId own = gate(sum, at);
      return activate(0, of.peeps ? add(own, mul(part(*of.peeps, peep), c)) : own);
    };
    const NodeId input = opened(Gate::input, 0, state.c);
    const NodeId forget = of.couples ? emit.binary(BinaryKind::sub, emit.scalar(1, emit.dtype(input)), input)
                                     : opened(Gate::forget, 2, state.c);
    const NodeId c = add(mul(forget, state.c), mul(input, activate(1, gate(sum, Gate::fresh))));
    const NodeId h = mul(opened(Gate::output, 1, c), activated(emit, of.activations[2], c));
    return {of.projection ? emit.matmul(h, *of.projection) : h, c};
  }
  State step(NodeId x, const State& state) const {
    if (of.cell == Cell::rnn) return rnn(x, state);
    return of.cell == Cell::gru ? gru(x, state) : lstm(x, state);
  }
};

// x: what comes in, after its product with the gates.
Recurred in_steps(const Emit& emit, NodeId x, const Recurrence& of) {
  const int64_t steps = emit.shape(x)[0];
  if (steps < 1 || steps > kMostSteps) refuse("{} steps, wanted 1 to {}", steps, kMostSteps);
  const Steps each{emit, of, of.hidden(emit)};
  State state{of.h, of.c};
  std::vector<NodeId> rows(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = of.backward ? steps - 1 - i : i;
    State next = each.step(emit.select_index(x, 0, at), state);
    NodeId row = next.h;
    if (of.lengths) {
      const NodeId runs = emit.binary(BinaryKind::gt, *of.lengths, emit.scalar(static_cast<double>(at), DType::i64));
      row = emit.select(runs, next.h, emit.scalar(0, emit.dtype(next.h)));
      next = {emit.select(runs, next.h, state.h), emit.select(runs, next.c, state.c)};
    }
    state = next;
    rows[static_cast<size_t>(at)] = emit.unsqueeze(row, 0);
  }
  return {emit.concat(rows, 0), state.h, state.c};
}

// The order in which the op has the gates.
Gates gates_in_order(Cell cell) {
  if (cell == Cell::rnn) return {Gate::only};
  if (cell == Cell::gru) return {Gate::reset, Gate::update, Gate::fresh};
  return {Gate::input, Gate::forget, Gate::fresh, Gate::output};
}

bool is_plain(const Recurrence& of) {
  if (of.lengths || of.clip > 0 || of.peeps || of.projection || of.couples) return false;
  if (of.cell == Cell::gru && !of.resets_product) return false;
  for (size_t i = 0; i < of.activations.size(); ++i)
    if (of.activations[i].name != (i == 0 && of.cell != Cell::rnn ? "sigmoid" : "tanh")) return false;
  return true;
}

// The gates of weights or biases in the op's order.
NodeId ordered(const Emit& emit, NodeId x, const Recurrence& of) {
  const Gates order = gates_in_order(of.cell);
  if (of.gates == order) return x;
  const Steps parts{emit, of, of.hidden(emit)};
  std::vector<NodeId> all;
  for (const Gate gate : order) all.push_back(parts.gate(x, gate));
  return emit.concat(all, -1);
}

// A gru's fresh gate scales the product with its bias; all others add it to what comes in.
Recurred as_one_op(const Emit& emit, NodeId x, const Recurrence& of) {
  const rung::Recurrence op{.cell = of.cell, .backward = of.backward};
  const int64_t hidden = of.hidden(emit), steps = emit.shape(x)[0];
  std::optional<NodeId> bias;
  if (of.wb) bias = ordered(emit, *of.wb, of);
  const auto zeros = [&] { return emit.broadcast(emit.scalar(0, emit.dtype(x)), Shape{hidden}); };
  NodeId fresh = kNoNode;
  if (of.cell == Cell::gru) fresh = of.rb ? emit.slice(ordered(emit, *of.rb, of), 0, 2 * hidden, 3 * hidden) : zeros();
  if (of.rb) {
    NodeId others = ordered(emit, *of.rb, of);
    if (of.cell == Cell::gru) others = emit.concat({emit.slice(others, 0, 0, 2 * hidden), zeros()}, 0);
    bias = bias ? emit.binary(BinaryKind::add, *bias, others) : others;
  }
  NodeId sums = emit.matmul(x, ordered(emit, of.w, of));
  if (bias) sums = emit.binary(BinaryKind::add, sums, *bias);
  std::vector<NodeId> operands{sums, emit.swap_axes(ordered(emit, of.r, of), 0, 1), of.h};
  if (of.cell == Cell::lstm) operands.push_back(of.c);
  if (of.cell == Cell::gru) operands.push_back(fresh);
  const NodeId all = emit.add(op, operands);
  const NodeId c = of.cell == Cell::lstm ? emit.select_index(emit.add(NthResult{}, {all}), 0, 0) : of.c;
  return {all, emit.select_index(all, 0, of.backward ? 0 : steps - 1), c};
}

}  // namespace

Recurred recurred(const Emit& emit, NodeId x, const Recurrence& of) {
  if (emit.shape(x)[0] < 1) refuse("{} steps, wanted at least 1", emit.shape(x)[0]);
  if (is_plain(of)) return as_one_op(emit, x, of);
  const NodeId sums = emit.matmul(x, of.w);
  return in_steps(emit, of.wb ? emit.binary(BinaryKind::add, sums, *of.wb) : sums, of);
}

Recurred unrolled(const Emit& emit, const rung::Recurrence& op, const std::vector<NodeId>& operands) {
  Recurrence of{};
  of.cell = op.cell, of.backward = op.backward, of.resets_product = true;
  of.gates = gates_in_order(op.cell);
  of.activations = op.cell == Cell::rnn ? std::vector<Activation>{{"tanh"}}
                                        : std::vector<Activation>{{"sigmoid"}, {"tanh"}, {"tanh"}};
  of.r = emit.swap_axes(operands[1], 0, 1);
  of.h = of.c = operands[2];
  if (op.cell == Cell::lstm) of.c = operands[3];
  if (op.cell == Cell::gru) {
    const NodeId zeros = emit.broadcast(emit.scalar(0, emit.dtype(operands[3])), Shape{2 * of.hidden(emit)});
    of.rb = emit.concat({zeros, operands[3]}, 0);
  }
  return in_steps(emit, operands[0], of);
}

}  // namespace rung::exported
