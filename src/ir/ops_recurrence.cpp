// Type rule and semantics of recurrences.
// SPDX-License-Identifier: Apache-2.0
#include "ir/op_rules.hpp"

namespace rung::infer {

Result<Type> rule(const Recurrence& op, Types types) {
  RUNG_CHECK(want_count(types, op.cell == CellKind::rnn ? 3 : 4));
  const Type &x = types[0], &w = types[1];
  RUNG_CHECK(want_rank(x, 3, "x"));
  RUNG_CHECK(want_rank(w, 2, "w"));
  RUNG_CHECK(want_float(x, "x"));
  for (const Type& type : types) RUNG_CHECK(want_same_dtype(x, type));
  const int64_t hidden = w.shape[1], gates = gates_of(op.cell), batch = x.shape[1];
  if (x.shape[0] < 1 || hidden < 1 || x.shape[2] / gates != hidden || x.shape[2] % gates)
    return fail("x: got {}, wanted at least one step of {} gates of {} each", x, gates, hidden);
  RUNG_CHECK(want_shape(w, {x.shape[2], hidden}, "w"));
  RUNG_CHECK(want_shape(types[2], {batch, hidden}, "h"));
  if (op.cell == CellKind::lstm) RUNG_CHECK(want_shape(types[3], {batch, hidden}, "c"));
  if (op.cell == CellKind::gru) RUNG_CHECK(want_shape(types[3], {hidden}, "bias"));
  return Type{x.dtype, {x.shape[0], batch, hidden}};
}

Semantics semantics(const Recurrence& op, const Signature& s) {
  const OperandUse state{.axes = {same(1), whole()}};
  Semantics out{.operands = {{.axes = {whole(0, 1), same(1), whole()}},
                             {.role = OperandRole::weights, .axes = {whole(), whole(2, 1)}},
                             state},
                .terms = s.shape(1)[1] + 1};
  if (op.cell == CellKind::lstm) out.operands.push_back(state);
  if (op.cell == CellKind::gru) out.operands.push_back({.axes = {whole()}});
  out.flops = 2 * count(s.operands[0]) * static_cast<double>(s.shape(1)[1]) + 4 * count(s.operands[0]);
  return out;
}

std::vector<Type> further_types(const Recurrence& op, const Signature& s) {
  if (op.cell != CellKind::lstm) return {};
  return {{s.result.dtype, {1, s.result.shape[1], s.result.shape[2]}}};
}

}  // namespace rung::infer
