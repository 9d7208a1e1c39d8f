// Recurrent operators of exported programs: layers of one or two directions, and single steps.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/recurrent.hpp"

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::Cell;
using exported::Gate;
using exported::Recurrence;
using exported::refuse;

// A cell as PyTorch has it, before its weights and states.
Recurrence cell_of(Cell cell, const char* activation) {
  Recurrence of{};
  of.cell = cell;
  of.resets_product = true;
  if (cell == Cell::rnn) of.gates = {Gate::only};
  if (cell == Cell::gru) of.gates = {Gate::reset, Gate::update, Gate::fresh};
  if (cell == Cell::lstm) of.gates = {Gate::input, Gate::forget, Gate::fresh, Gate::output};
  if (cell == Cell::rnn) of.activations = {{activation}};
  if (cell != Cell::rnn) of.activations = {{"sigmoid"}, {activation}, {activation}};
  return of;
}

// Weights in PyTorch's order: [G H,I], [G H,P], two biases of [G H] where there are some, and a projection [P,H].
void take_weights(const Call& call, Recurrence& of, std::span<const NodeId> weights, bool has_biases) {
  for (const NodeId matrix : weights.first(2))
    if (call.rank(matrix) != 2 || call.shape(matrix)[0] % static_cast<int64_t>(of.gates.size()))
      refuse("weights of {} for {} gates", call.type(matrix), of.gates.size());
  of.w = call.swap_axes(weights[0], 0, 1);
  of.r = call.swap_axes(weights[1], 0, 1);
  if (has_biases) of.wb = weights[2], of.rb = weights[3];
  const size_t behind = has_biases ? 4 : 2;
  if (weights.size() > behind) of.projection = call.swap_axes(weights[behind], 0, 1);
}

struct Layers {
  int64_t count, directions;
  bool has_biases;
  size_t each;  // weights of one direction of a layer
  std::vector<NodeId> weights;

  std::span<const NodeId> at(int64_t layer, int64_t direction) const {
    return std::span(weights).subspan(static_cast<size_t>(layer * directions + direction) * each, each);
  }
};

Layers layers_of(const Call& call, Cell cell) {
  Layers of{.count = call.integer("num_layers"),
            .directions = call.flag("bidirectional") ? 2 : 1,
            .has_biases = call.flag("has_biases"),
            .each = 0,
            .weights = call.tensors("params")};
  const auto size = static_cast<int64_t>(of.weights.size());
  if (of.count < 1 || of.count > size || size % (of.count * of.directions))
    refuse("got {} weights for {} layers of {} directions", size, of.count, of.directions);
  of.each = static_cast<size_t>(size / (of.count * of.directions));
  const size_t least = of.has_biases ? 4 : 2, most = least + (cell == Cell::lstm ? 1 : 0);
  if (of.each < least || of.each > most) refuse("got {} weights of a direction, wanted {}", of.each, least);
  return of;
}

// x [S,B,I] or, with its batch first, [B,S,I], and states [L D,B,H]. A layer reads both directions of the one before.
Values recurrent(const Call& call, Cell cell, const char* activation) {
  if (call.flag("train") && call.number("dropout", 0) > 0) refuse("dropout of {} in training", call.number("dropout"));
  const Layers layers = layers_of(call, cell);
  const std::vector<NodeId> given = cell == Cell::lstm ? call.tensors("hx") : std::vector{call.tensor("hx")};
  if (given.size() != (cell == Cell::lstm ? 2 : 1)) refuse("got {} states", given.size());
  for (const NodeId state : given)
    if (call.rank(state) != 3 || call.shape(state)[0] != layers.count * layers.directions)
      refuse("states of {} for {} layers of {} directions", call.type(state), layers.count, layers.directions);
  NodeId x = call.tensor("input");
  if (call.rank(x) != 3) refuse("sequences of {}, wanted three axes", call.type(x));
  if (call.flag("batch_first")) x = call.swap_axes(x, 0, 1);
  std::vector<NodeId> last_h, last_c;
  for (int64_t layer = 0; layer < layers.count; ++layer) {
    std::vector<NodeId> sides;
    for (int64_t direction = 0; direction < layers.directions; ++direction) {
      Recurrence of = cell_of(cell, activation);
      take_weights(call, of, layers.at(layer, direction), layers.has_biases);
      of.backward = direction == 1;
      of.h = call.select_index(given.front(), 0, layer * layers.directions + direction);
      of.c = call.select_index(given.back(), 0, layer * layers.directions + direction);
      const auto states = exported::recurred(call, x, of);
      sides.push_back(states.all);
      last_h.push_back(call.unsqueeze(states.h, 0));
      last_c.push_back(call.unsqueeze(states.c, 0));
    }
    x = call.concat(sides, -1);
  }
  if (call.flag("batch_first")) x = call.swap_axes(x, 0, 1);
  std::vector<NodeId> results{x, call.concat(last_h, 0)};
  if (cell == Cell::lstm) results.push_back(call.concat(last_c, 0));
  return several(results);
}

// One step: x [B,I], states [B,H].
Values stepped(const Call& call, Cell cell, const char* activation) {
  const std::vector<NodeId> given = cell == Cell::lstm ? call.tensors("hx") : std::vector{call.tensor("hx")};
  if (given.size() != (cell == Cell::lstm ? 2 : 1)) refuse("got {} states", given.size());
  const bool has_biases = call.has("b_ih");
  std::vector<NodeId> weights{call.tensor("w_ih"), call.tensor("w_hh")};
  if (has_biases) weights.insert(weights.end(), {call.tensor("b_ih"), call.tensor("b_hh")});
  Recurrence of = cell_of(cell, activation);
  take_weights(call, of, weights, has_biases);
  of.h = given.front(), of.c = given.back();
  const auto states = exported::recurred(call, call.unsqueeze(call.tensor("input"), 0), of);
  return cell == Cell::lstm ? several({states.h, states.c}) : one(states.h);
}

}  // namespace

Values lstm(const Call& call) { return recurrent(call, Cell::lstm, "tanh"); }
Values gru(const Call& call) { return recurrent(call, Cell::gru, "tanh"); }
Values rnn_tanh(const Call& call) { return recurrent(call, Cell::rnn, "tanh"); }
Values rnn_relu(const Call& call) { return recurrent(call, Cell::rnn, "relu"); }
Values lstm_cell(const Call& call) { return stepped(call, Cell::lstm, "tanh"); }
Values gru_cell(const Call& call) { return stepped(call, Cell::gru, "tanh"); }
Values rnn_tanh_cell(const Call& call) { return stepped(call, Cell::rnn, "tanh"); }
Values rnn_relu_cell(const Call& call) { return stepped(call, Cell::rnn, "relu"); }

}  // namespace rung::pt2::operators
