// The type rule and semantics of sample.
// SPDX-License-Identifier: Apache-2.0
#include "ir/op_rules.hpp"
#include "ir/sampling.hpp"

namespace rung::infer {
namespace {

Status want_type(const Type& type, const Type& wanted, std::string_view what) {
  if (type == wanted) return {};
  return fail("{}: got {}, wanted {}", what, type, wanted);
}

}  // namespace

Result<Type> rule(const Sample& op, Types types) {
  RUNG_CHECK(want_count(types, op.slots.size()));
  const auto operand = [&](SampleSlot slot) { return op.slots.find(types, slot); };
  const Type& logits = *operand(SampleSlot::logits);
  RUNG_CHECK(want_float(logits, "logits"));
  const int rank = logits.shape.rank();
  if (rank < 1 || rank > 2 || logits.shape.product() != logits.shape.back())
    return fail("logits: got {}, wanted [V] or [1,V]", logits);
  const int64_t tokens = logits.shape.back();
  if (tokens < 1 || tokens > sampling::kMostTokens)
    return fail("logits: got {}, wanted 1 to {} of them", logits, sampling::kMostTokens);
  RUNG_CHECK(want_type(*operand(SampleSlot::settings), {DType::f32, {sampling::kSettings}}, "settings"));
  RUNG_CHECK(want_type(*operand(SampleSlot::draw), {DType::i64, {2}}, "draw"));
  if (const Type* bias = operand(SampleSlot::bias)) RUNG_CHECK(want_type(*bias, {DType::f32, {tokens}}, "bias"));
  if (const Type* seen = operand(SampleSlot::seen); seen && seen->dtype != DType::i32)
    RUNG_CHECK(want_type(*seen, {DType::i64, {tokens}}, "seen"));
  else if (seen)
    RUNG_CHECK(want_shape(*seen, {tokens}, "seen"));
  return Type{DType::i64, {1}};
}

Semantics semantics(const Sample& op, const Signature& s) {
  constexpr double kFlops = 20;  // of a token: two comparisons, and the exponential
  Semantics out{.flops = kFlops * count(s.operands[0])};
  for (const Type& type : s.operands) {
    out.operands.push_back({.any_float = true});
    out.operands.back().axes.assign(static_cast<size_t>(type.shape.rank()), whole());
  }
  const auto use = [&](SampleSlot slot) -> OperandUse& { return out.operands[op.slots.before(slot)]; };
  use(SampleSlot::logits).infinity = InfinityUse::masks;
  use(SampleSlot::settings).role = OperandRole::scale;
  if (op.has(SampleSlot::bias)) use(SampleSlot::bias).infinity = InfinityUse::masks;
  return out;
}

}  // namespace rung::infer
