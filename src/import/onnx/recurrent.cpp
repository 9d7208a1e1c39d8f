// Recurrent operators of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "import/exported/recurrent.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

using exported::Activation;
using exported::Cell;
using exported::Gate;

struct CellFacts {
  exported::Gates gates;
  size_t activations;
  const char* defaults[3];
};

CellFacts facts_of(Cell cell) {
  if (cell == Cell::rnn) return {{Gate::only}, 1, {"tanh"}};
  if (cell == Cell::gru) return {{Gate::update, Gate::reset, Gate::fresh}, 2, {"sigmoid", "tanh"}};
  return {{Gate::input, Gate::output, Gate::forget, Gate::fresh}, 3, {"sigmoid", "tanh", "tanh"}};
}

// alpha and beta are lists of those activations alone that take some.
std::vector<Activation> activations_of(const Call& call, const CellFacts& facts, size_t directions) {
  std::vector<std::string> names = call.texts("activations");
  if (names.empty())
    for (size_t d = 0; d < directions; ++d)
      for (size_t i = 0; i < facts.activations; ++i) names.emplace_back(facts.defaults[i]);
  if (names.size() != directions * facts.activations)
    refuse("got {} activations, wanted {}", names.size(), directions * facts.activations);
  const auto alphas = call.numbers("activation_alpha"), betas = call.numbers("activation_beta");
  std::vector<Activation> all;
  for (size_t i = 0; i < names.size(); ++i) {
    std::ranges::transform(names[i], names[i].begin(), [](unsigned char c) { return std::tolower(c); });
    const bool hard = names[i] == "hardsigmoid";
    all.push_back({names[i],
                   i < alphas.size() ? alphas[i]
                   : hard            ? 0.2
                                     : 1,
                   i < betas.size() ? betas[i]
                   : hard           ? 0.5
                                    : 1});
  }
  return all;
}

// Weights of inputs [D,G,I] and of states [D,G,H], of D directions and G rows for all gates.
struct GateWeights {
  NodeId w, r;
};

Outputs recurrent(const Call& call, Cell cell, const GateWeights& weights) {
  const CellFacts facts = facts_of(cell);
  const bool batch_first = call.integer("layout", 0) != 0;
  const NodeId x = batch_first ? call.swap_axes(call[0], 0, 1) : call[0];
  const std::string way = call.text("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional") refuse("direction '{}'", way);
  const size_t directions = way == "bidirectional" ? 2 : 1;
  if (call.rank(x) != 3 || call.rank(weights.w) != 3 || call.rank(weights.r) != 3)
    refuse("sequences of {} with weights of {} and {}", call.type(x), call.type(weights.w), call.type(weights.r));
  const auto count = static_cast<int64_t>(facts.gates.size());
  const int64_t hidden = call.shape(weights.r).back(), gates = count * hidden, batch = call.shape(x)[1];
  if (call.shape(weights.w)[0] != static_cast<int64_t>(directions) || call.shape(weights.w)[1] != gates)
    refuse("weights of {} for {} directions of {} gates of {}", call.type(weights.w), directions, count, hidden);
  const auto f = activations_of(call, facts, directions);
  std::optional<NodeId> lengths;
  if (call.has(4)) lengths = call.reshape(call.cast(call[4], DType::i64), Shape{batch, 1});
  std::vector<NodeId> rows, last_h, last_c;
  for (size_t d = 0; d < directions; ++d) {
    const auto at = static_cast<int64_t>(d);
    const auto part = [&](size_t input) { return call.select_index(call[input], 0, at); };
    const auto state = [&](size_t input) {
      if (!call.has(input)) return call.broadcast(call.scalar(0, call.dtype(x)), Shape{batch, hidden});
      return call.select_index(call[input], batch_first ? 1 : 0, at);
    };
    const auto bias = [&](int64_t begin) -> std::optional<NodeId> {
      if (!call.has(3)) return std::nullopt;
      return call.slice(part(3), 0, begin, begin + gates);
    };
    const bool is_lstm = cell == Cell::lstm;
    const NodeId h = state(5);
    const auto first = f.begin() + static_cast<std::ptrdiff_t>(d * facts.activations);
    const exported::Recurrence one{.cell = cell,
                                   .gates = facts.gates,
                                   .w = call.swap_axes(call.select_index(weights.w, 0, at), 0, 1),
                                   .r = call.swap_axes(call.select_index(weights.r, 0, at), 0, 1),
                                   .wb = bias(0),
                                   .rb = bias(gates),
                                   .peeps = is_lstm && call.has(7) ? std::optional(part(7)) : std::nullopt,
                                   .projection = {},
                                   .h = h,
                                   .c = is_lstm ? state(6) : h,
                                   .activations = {first, first + static_cast<std::ptrdiff_t>(facts.activations)},
                                   .backward = way == "reverse" || d == 1,
                                   .resets_product = call.integer("linear_before_reset", 0) != 0,
                                   .couples = call.integer("input_forget", 0) != 0,
                                   .clip = call.number("clip", 0),
                                   .lengths = lengths};
    const auto states = exported::recurred(call, x, one);
    rows.push_back(call.unsqueeze(states.all, 1));
    last_h.push_back(call.unsqueeze(states.h, 0));
    last_c.push_back(call.unsqueeze(states.c, 0));
  }
  NodeId y = call.concat(rows, 1), y_h = call.concat(last_h, 0), y_c = call.concat(last_c, 0);
  if (batch_first) {  // [S,D,B,H] -> [B,S,D,H], [D,B,H] -> [B,D,H]
    y = call.transpose(y, {2, 0, 1, 3});
    y_h = call.swap_axes(y_h, 0, 1);
    y_c = call.swap_axes(y_c, 0, 1);
  }
  return {y, y_h, y_c};
}

GateWeights given_weights(const Call& call) { return {call[1], call[2]}; }

// Bytes [D,I,G] as floats [D,G,I]: a scale and a zero point for each direction, or for each of its rows as well.
NodeId gate_floats(const Call& call, const QuantisedInput& input) {
  const NodeId bytes = call[input.value];
  if (call.rank(bytes) != 3) refuse("weights of {}", call.type(bytes));
  const Shape from = call.shape(bytes);
  const auto of_rows = [&](size_t numbers) {
    const NodeId wide = call.cast(call[numbers], DType::f32);
    const int64_t count = call.type(wide).elements();
    if (count != from[0] && count != from[0] * from[2])
      refuse("input {}: got {}, wanted one number for each direction or row", numbers, call.type(call[numbers]));
    return call.reshape(wide, Shape{from[0], 1, count / from[0]});
  };
  NodeId steps = call.cast(bytes, DType::f32);
  if (call.has(input.zero)) steps = call.binary(BinaryKind::sub, steps, of_rows(input.zero));
  return call.swap_axes(call.binary(BinaryKind::mul, steps, of_rows(input.scale)), 1, 2);
}

}  // namespace

Outputs rnn(const Call& call) { return recurrent(call, Cell::rnn, given_weights(call)); }
Outputs gru(const Call& call) { return recurrent(call, Cell::gru, given_weights(call)); }
Outputs lstm(const Call& call) { return recurrent(call, Cell::lstm, given_weights(call)); }

// With weights of bytes. Inputs and states stay floats, which ONNX Runtime rounds to bytes at each step.
Outputs dynamic_quantize_lstm(const Call& call) {
  return recurrent(call, Cell::lstm, {gate_floats(call, {1, 8, 9}), gate_floats(call, {2, 10, 11})});
}

}  // namespace rung::onnx::operators
