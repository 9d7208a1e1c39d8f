// Recurrent operators of ONNX graphs, as their steps one after another.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

constexpr int64_t kMostSteps = 1 << 12;

enum class Cell : uint8_t { rnn, gru, lstm };
struct CellFacts {
  int64_t gates;
  size_t activations;
  const char* defaults[3];
};
constexpr CellFacts kCells[] = {{1, 1, {"tanh"}}, {3, 2, {"sigmoid", "tanh"}}, {4, 3, {"sigmoid", "tanh", "tanh"}}};

struct Activated {
  std::string name;
  double alpha, beta;
};

NodeId activated(const Call& call, const Activated& f, NodeId x) {
  const auto plus = [&](NodeId y, double number) {
    return call.binary(BinaryKind::add, y, call.scalar(number, call.dtype(y)));
  };
  if (f.name == "tanh") return call.unary(UnaryKind::tanh, x);
  if (f.name == "sigmoid") return call.unary(UnaryKind::sigmoid, x);
  if (f.name == "relu") return call.unary(UnaryKind::relu, x);
  if (f.name == "affine") return plus(call.scale(x, f.alpha), f.beta);
  if (f.name == "scaledtanh") return call.scale(call.unary(UnaryKind::tanh, call.scale(x, f.beta)), f.alpha);
  if (f.name == "hardsigmoid") return call.clamp(plus(call.scale(x, f.alpha), f.beta), 0, 1);
  if (f.name == "softsign") return call.binary(BinaryKind::div, x, plus(call.unary(UnaryKind::abs, x), 1));
  refuse("activation '{}'", f.name);
}

// One direction of a recurrence: weights of its gates, and the state that it starts with. Batches: [B,...].
struct Direction {
  const Call& call;
  Cell cell;
  int64_t hidden;
  bool backward;
  NodeId w, r;                          // [I, G H], [H, G H]
  std::optional<NodeId> wb, rb, peeps;  // [G H], [G H], [3 H]
  NodeId h, c;                          // [B,H]
  std::vector<Activated> f;

  NodeId add(NodeId a, NodeId b) const { return call.binary(BinaryKind::add, a, b); }
  NodeId mul(NodeId a, NodeId b) const { return call.binary(BinaryKind::mul, a, b); }
  NodeId gate(NodeId x, int64_t i) const { return call.slice(x, -1, i * hidden, (i + 1) * hidden); }
  NodeId activate(size_t i, NodeId x) const {
    const double clip = call.number("clip", 0);
    return activated(call, f[i], clip > 0 ? call.clamp(x, -clip, clip) : x);
  }

  struct State {
    NodeId h, c;
  };
  State rnn_step(NodeId x) const {
    NodeId sum = add(call.matmul(x, w), call.matmul(h, r));
    if (wb) sum = add(sum, add(*wb, *rb));
    return {activate(0, sum), c};
  }
  // Gates: update, reset, hidden.
  State gru_step(NodeId x) const {
    NodeId from_x = call.matmul(x, w);
    if (wb) from_x = add(from_x, *wb);
    const auto from_h = [&](NodeId state, int64_t i) {
      const NodeId product = call.matmul(state, gate(r, i));
      return rb ? add(product, gate(*rb, i)) : product;
    };
    const NodeId z = activate(0, add(gate(from_x, 0), from_h(h, 0)));
    const NodeId reset = activate(0, add(gate(from_x, 1), from_h(h, 1)));
    const bool after = call.integer("linear_before_reset", 0) != 0;
    const NodeId inner = after ? mul(reset, from_h(h, 2)) : from_h(mul(reset, h), 2);
    const NodeId fresh = activate(1, add(gate(from_x, 2), inner));
    return {add(fresh, mul(z, call.binary(BinaryKind::sub, h, fresh))), c};
  }
  // Gates: input, output, forget, cell.
  State lstm_step(NodeId x) const {
    NodeId sum = add(call.matmul(x, w), call.matmul(h, r));
    if (wb) sum = add(sum, add(*wb, *rb));
    const auto peeped = [&](int64_t i, NodeId state) {
      return peeps ? add(gate(sum, i), mul(gate(*peeps, i), state)) : gate(sum, i);
    };
    const NodeId input = activate(0, peeped(0, c));
    const NodeId forget = call.integer("input_forget", 0) != 0
                              ? call.binary(BinaryKind::sub, call.scalar(1, call.dtype(input)), input)
                              : activate(0, peeped(2, c));
    const NodeId cell_state = add(mul(forget, c), mul(input, activate(1, gate(sum, 3))));
    const NodeId output = activate(0, peeped(1, cell_state));
    return {mul(output, activated(call, f[2], cell_state)), cell_state};
  }
  State step(NodeId x) const {
    if (cell == Cell::rnn) return rnn_step(x);
    return cell == Cell::gru ? gru_step(x) : lstm_step(x);
  }

  // x: [S,B,I]; the states of all steps, [S,B,H]. Steps behind a batch's length leave its state, and give zeros.
  NodeId run(NodeId x, std::optional<NodeId> lengths) {
    const int64_t steps = call.shape(x)[0];
    std::vector<NodeId> rows(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t at = backward ? steps - 1 - i : i;
      State next = step(call.select_index(x, 0, at));
      NodeId row = next.h;
      if (lengths) {
        const NodeId runs = call.binary(BinaryKind::gt, *lengths, call.scalar(static_cast<double>(at), DType::i64));
        row = call.select(runs, next.h, call.scalar(0, call.dtype(next.h)));
        next = {call.select(runs, next.h, h), call.select(runs, next.c, c)};
      }
      h = next.h;
      c = next.c;
      rows[static_cast<size_t>(at)] = call.unsqueeze(row, 0);
    }
    return call.concat(rows, 0);
  }
};

// alpha and beta are lists of those activations alone that take some.
std::vector<Activated> activations_of(const Call& call, const CellFacts& facts, size_t directions) {
  std::vector<std::string> names = call.texts("activations");
  if (names.empty())
    for (size_t d = 0; d < directions; ++d)
      for (size_t i = 0; i < facts.activations; ++i) names.emplace_back(facts.defaults[i]);
  if (names.size() != directions * facts.activations)
    refuse("got {} activations, wanted {}", names.size(), directions * facts.activations);
  const auto alphas = call.numbers("activation_alpha"), betas = call.numbers("activation_beta");
  std::vector<Activated> all;
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

Outputs recurrent(const Call& call, Cell cell) {
  const CellFacts& facts = kCells[static_cast<size_t>(cell)];
  const bool batch_first = call.integer("layout", 0) != 0;
  const NodeId x = batch_first ? call.swap_axes(call[0], 0, 1) : call[0];
  const std::string way = call.text("direction", "forward");
  if (way != "forward" && way != "reverse" && way != "bidirectional") refuse("direction '{}'", way);
  const size_t directions = way == "bidirectional" ? 2 : 1;
  if (call.rank(x) != 3 || call.rank(call[1]) != 3 || call.rank(call[2]) != 3)
    refuse("sequences of {} with weights of {} and {}", call.type(x), call.type(call[1]), call.type(call[2]));
  const int64_t hidden = call.shape(call[2]).back(), gates = facts.gates * hidden, batch = call.shape(x)[1];
  if (call.shape(x)[0] < 1 || call.shape(x)[0] > kMostSteps)
    refuse("{} steps, wanted 1 to {}", call.shape(x)[0], kMostSteps);
  if (call.shape(call[1])[0] != static_cast<int64_t>(directions) || call.shape(call[1])[1] != gates)
    refuse("weights of {} for {} directions of {} gates of {}", call.type(call[1]), directions, facts.gates, hidden);
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
    Direction one{.call = call,
                  .cell = cell,
                  .hidden = hidden,
                  .backward = way == "reverse" || d == 1,
                  .w = call.swap_axes(part(1), 0, 1),
                  .r = call.swap_axes(part(2), 0, 1),
                  .wb = bias(0),
                  .rb = bias(gates),
                  .peeps = is_lstm && call.has(7) ? std::optional(part(7)) : std::nullopt,
                  .h = h,
                  .c = is_lstm ? state(6) : h,
                  .f = {f.begin() + static_cast<std::ptrdiff_t>(d * facts.activations),
                        f.begin() + static_cast<std::ptrdiff_t>((d + 1) * facts.activations)}};
    rows.push_back(call.unsqueeze(one.run(x, lengths), 1));
    last_h.push_back(call.unsqueeze(one.h, 0));
    last_c.push_back(call.unsqueeze(one.c, 0));
  }
  NodeId y = call.concat(rows, 1), y_h = call.concat(last_h, 0), y_c = call.concat(last_c, 0);
  if (batch_first) {  // [S,D,B,H] -> [B,S,D,H], [D,B,H] -> [B,D,H]
    y = call.transpose(y, {2, 0, 1, 3});
    y_h = call.swap_axes(y_h, 0, 1);
    y_c = call.swap_axes(y_c, 0, 1);
  }
  return {y, y_h, y_c};
}

}  // namespace

Outputs rnn(const Call& call) { return recurrent(call, Cell::rnn); }
Outputs gru(const Call& call) { return recurrent(call, Cell::gru); }
Outputs lstm(const Call& call) { return recurrent(call, Cell::lstm); }

}  // namespace rung::onnx::operators
