// Recurrences of exported graphs: one op where it has their form, else their steps one after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/exported/emit.hpp"

namespace rung::exported {

using Cell = CellKind;
enum class Gate : uint8_t { only, update, reset, fresh, input, forget, output };  // fresh: a candidate for the state

// The gates of a cell in the order in which weights have them.
using Gates = std::vector<Gate>;

// An activation by its name in lower case, with the numbers that some have.
struct Activation {
  std::string name;
  double alpha = 1, beta = 1;
};

// One direction of a recurrence over x [S,B,I], with weights of G gates of H numbers each.
struct Recurrence {
  Cell cell;
  Gates gates;
  NodeId w, r;                          // [I, G H], [P, G H]: of what comes in, and of the state
  std::optional<NodeId> wb, rb, peeps;  // [G H], [G H], [3 H]: biases, and the peepholes of a LSTM
  std::optional<NodeId> projection;     // [H,P], of a LSTM; none: P is H
  NodeId h, c;                          // [B,P], [B,H]: states; of a LSTM alone there is a c
  std::vector<Activation> activations;  // gates, fresh and, of a LSTM, what it gives; of a RNN the only one
  bool backward = false;
  bool resets_product = false;    // a GRU's reset gate scales the product with the state, not the state
  bool couples = false;           // a LSTM forgets as much as it does not take in
  double clip = 0;                // sums before activations lie within; 0: anywhere
  std::optional<NodeId> lengths;  // i64 [B,1]: steps behind it leave the state, and give zeros

  int64_t hidden(const Emit& emit) const { return emit.shape(r).back() / static_cast<int64_t>(gates.size()); }
};

struct Recurred {
  NodeId all;   // [S,B,P]
  NodeId h, c;  // the last states
};
Recurred recurred(const Emit& emit, NodeId x, const Recurrence& of);
// The same as steps, for devices without a kernel for the op. operands: the op's.
Recurred unrolled(const Emit& emit, const rung::Recurrence& op, const std::vector<NodeId>& operands);
inline constexpr int64_t kMostSteps = 1 << 12;

}  // namespace rung::exported
