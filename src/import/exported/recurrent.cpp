// Adds the nodes of every step of a recurrence.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/recurrent.hpp"

#include <algorithm>

namespace rung::exported {
namespace {

constexpr int64_t kMostSteps = 1 << 12;

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

}  // namespace

Recurred recurred(const Emit& emit, NodeId x, const Recurrence& of) {
  const int64_t steps = emit.shape(x)[0];
  if (steps < 1 || steps > kMostSteps) refuse("{} steps, wanted 1 to {}", steps, kMostSteps);
  const Steps each{emit, of, of.hidden(emit)};
  NodeId sums = emit.matmul(x, of.w);
  if (of.wb) sums = each.add(sums, *of.wb);
  State state{of.h, of.c};
  std::vector<NodeId> rows(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = of.backward ? steps - 1 - i : i;
    State next = each.step(emit.select_index(sums, 0, at), state);
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

}  // namespace rung::exported
