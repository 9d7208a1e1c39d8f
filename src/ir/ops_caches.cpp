// Type rules and semantics of the ops that store heads in caches, and of attention over them.
// SPDX-License-Identifier: Apache-2.0
#include "ir/op_rules.hpp"

namespace rung::infer {
namespace {

// Checks the caches against each other and against the rows of x.
Status check_caches(const Type& x, const Type& keys, const Type& values) {
  RUNG_CHECK(want_float(x, "x"));
  RUNG_CHECK(want_rank(keys, 3, "keys"));
  RUNG_CHECK(want_shape(values, keys.shape, "values"));
  RUNG_CHECK(want_same_dtype(keys, values));
  if (!is_f8(keys.dtype)) RUNG_CHECK(want_same_dtype(x, keys));
  const int64_t groups = keys.shape[1], width = keys.shape[2];
  if (groups < 1 || width < 2 || width % 2) return fail("keys: got {}, wanted heads of an even width", keys);
  if (x.shape.rank() < 2 || x.shape.back() % width || x.shape.back() / width <= 2 * groups)
    return fail("x: got {}, wanted rows of more than {} heads of {} columns", x, 2 * groups, width);
  return {};
}

// The number of rows of x, if it can be counted.
int64_t rows_of(const Type& x) { return x.shape.back() ? x.elements() / x.shape.back() : 0; }

// The types of the attention within: its queries, [1,M,H,D], the length, and a cache, [1,N,G,D], twice.
std::vector<Type> attention_types(Types types, const Type& queries) {
  const Shape &q = queries.shape, &cache = types[CacheHeads::kKeys].shape;
  const int64_t heads = q.back(1), width = q.back();
  const Type keys{types[CacheHeads::kKeys].dtype, {1, cache[0], cache[1], cache[2]}};
  return {Type{queries.dtype, {1, q.product() / (heads * width), heads, width}}, types.back(), keys, keys};
}

}  // namespace

Result<Type> rule(const CacheHeads&, Types types) {
  if (types.size() != 6 && types.size() != 7) return fail("got {} operands, wanted 6 or 7", types.size());
  const Type &x = types[CacheHeads::kX], &keys = types[CacheHeads::kKeys], &places = types[CacheHeads::kPlaces];
  RUNG_CHECK(check_caches(x, keys, types[CacheHeads::kValues]));
  const int64_t rows = rows_of(x), groups = keys.shape[1], width = keys.shape[2];
  const int64_t heads = x.shape.back() / width - 2 * groups;
  if (places.dtype != DType::i64) return fail("places: got {}, wanted i64[{}]", places, rows);
  RUNG_CHECK(want_shape(places, {rows}, "places"));
  RUNG_CHECK(want_float(types[CacheHeads::kCos], "cos"));
  RUNG_CHECK(want_shape(types[CacheHeads::kCos], {rows, width}, "cos"));
  RUNG_CHECK(want_float(types[CacheHeads::kSin], "sin"));
  RUNG_CHECK(want_shape(types[CacheHeads::kSin], {rows, width}, "sin"));
  if (types.size() > CacheHeads::kNormWeight) {
    RUNG_CHECK(want_float(types[CacheHeads::kNormWeight], "norm_weight"));
    RUNG_CHECK(want_shape(types[CacheHeads::kNormWeight], {heads + groups, width}, "norm_weight"));
  }
  if (x.shape.rank() + 1 > Dims::kMaxRank) return fail("result has more than {} dimensions", Dims::kMaxRank);
  Shape shape = x.shape;
  shape[shape.rank() - 1] = heads;
  shape.push_back(width);
  return Type{x.dtype, shape};
}

Semantics semantics(const CacheHeads&, const Signature& s) {
  const auto read_whole = [&](size_t i, OperandRole role) {
    OperandUse use{.role = role};
    use.axes.assign(static_cast<size_t>(s.shape(i).rank()), whole(0, s.result.shape.rank()));
    return use;
  };
  Semantics out;
  for (size_t i = 0; i < s.operands.size(); ++i)
    out.operands.push_back(read_whole(i, i < CacheHeads::kCos ? OperandRole::data : OperandRole::scale));
  out.operands[CacheHeads::kPlaces].role = OperandRole::index;
  const Shape& keys = s.shape(CacheHeads::kKeys);
  for (const size_t i : {CacheHeads::kKeys, CacheHeads::kValues})
    out.operands[i].updated = s.shape(CacheHeads::kPlaces)[0] * keys[1] * keys[2];
  const double turned = count(s.operands[0]) - static_cast<double>(out.operands[CacheHeads::kValues].updated);
  const bool normed = s.operands.size() > CacheHeads::kNormWeight;
  out.flops = (normed ? 7 : 3) * turned;
  return out;
}

std::vector<Type> further_types(const CacheHeads&, const Signature& s) {
  return {s.operands[CacheHeads::kKeys], s.operands[CacheHeads::kValues]};
}

// ---- attention over them

Result<Type> rule(const CachedAttention& op, Types types) {
  if (types.size() != 7 && types.size() != 8) return fail("got {} operands, wanted 7 or 8", types.size());
  RUNG_TRY(const Type queries, rule(op.heads(), types.first(types.size() - 1)));
  RUNG_CHECK(rule(op.attention(), attention_types(types, queries)));
  return queries;
}

Semantics semantics(const CachedAttention& op, const Signature& s) {
  Semantics out = semantics(op.heads(), {s.operands.first(s.operands.size() - 1), s.result});
  for (const size_t i : {CacheHeads::kX, CacheHeads::kKeys, CacheHeads::kValues})
    out.operands[i].role = OperandRole::product;
  out.operands.push_back({.role = OperandRole::index, .axes = {whole(0, s.result.shape.rank())}});
  const std::vector<Type> types = attention_types(s.operands, s.result);
  const Semantics attention = semantics(op.attention(), {types, types[0]});
  out.terms = attention.terms;
  out.flops += attention.flops;
  return out;
}

std::vector<Type> further_types(const CachedAttention& op, const Signature& s) { return further_types(op.heads(), s); }

}  // namespace rung::infer
