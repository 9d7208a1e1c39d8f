// Products and attention of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {

using exported::refuse;

Values linear(const Call& call) {
  return one(call.linear(call.tensor("input"), call.tensor("weight"), call.optional_tensor("bias")));
}

Values matmul(const Call& call) {
  const bool is_mm = call.find("mat2") != nullptr;
  return one(call.matmul(call.tensor("self"), call.tensor(is_mm ? "mat2" : "other")));
}

Values outer(const Call& call) {
  const auto [a, b] = call.both("self", "vec2");
  return one(call.binary(BinaryKind::mul, call.unsqueeze(a, -1), b));
}
Values einsum(const Call& call) { return one(call.einsum(call.text("equation", ""), call.tensors("tensors"))); }

// Rows of x [N,K] times the matrix of their group, of weight [E,K,M]: group e has the rows before offs[e], from
// offs[e - 1] on. Few rows read their matrices alone; many are multiplied by all, and keep their group's product.
Values grouped_product(const Call& call) {
  const bool is_core = base_name(call.target()) == "_grouped_mm";
  const NodeId x = call.tensor(is_core ? "self" : "input"), weight = call.tensor(is_core ? "mat2" : "weight");
  const NodeId ends = call.tensor("offs");
  if (call.rank(x) != 2 || call.rank(weight) != 3 || call.rank(ends) != 1 || call.has("bias"))
    refuse("groups of {} times {} with ends of {}", call.type(x), call.type(weight), call.type(ends));
  const int64_t rows = call.shape(x)[0], groups = call.shape(weight)[0], columns = call.shape(weight)[2];
  const NodeId place = call.cast(call.counted(rows, 0, 2), call.dtype(ends));
  const NodeId lies_behind = call.cast(call.binary(BinaryKind::le, ends, place), DType::i64);
  const NodeId group =
      call.clamp(call.reduce(ReduceKind::sum, lies_behind, {1}, false), 0, static_cast<double>(groups - 1));
  if (rows < groups) {
    const NodeId products = call.matmul(call.unsqueeze(x, 1), call.gather(weight, group, 0));
    return one(call.squeeze(products, {1}));
  }
  const NodeId products = call.matmul(call.unsqueeze(x, 0), weight);
  const NodeId wanted = call.broadcast(call.reshape(group, Shape{1, rows, 1}), Shape{1, rows, columns});
  return one(call.squeeze(call.gather_elements(products, wanted, 0), {0}));
}

namespace {

// x of any number of axes as one of four: the axes in front become one.
NodeId in_four_axes(const Call& call, NodeId x) {
  while (call.rank(x) < 4) x = call.unsqueeze(x, 0);
  const Shape& s = call.shape(x);
  const int rank = s.rank();
  return rank == 4 ? x : call.reshape(x, std::vector<int64_t>{-1, s[rank - 3], s[rank - 2], s[rank - 1]});
}

// A mask whose axes in front become one as the queries' do.
std::optional<NodeId> mask_of(const Call& call, NodeId q) {
  const auto mask = call.optional_tensor("attn_mask");
  if (!mask || call.rank(*mask) < 4 || call.rank(q) <= 4) return mask;
  Shape to = call.shape(q);
  for (int i = 1; i <= 3; ++i) to[to.rank() - i] = call.shape(*mask)[call.rank(*mask) - i];
  return in_four_axes(call, call.broadcast(*mask, to));
}

}  // namespace

Values attention(const Call& call) {
  if (call.number("dropout_p", 0) != 0) refuse("dropout in training, wanted a model in eval mode: model.eval()");
  const NodeId q = call.tensor("query"), v = call.tensor("value");
  const NodeId y = call.attention({.q = in_four_axes(call, q),
                                   .k = in_four_axes(call, call.tensor("key")),
                                   .v = in_four_axes(call, v),
                                   .mask = mask_of(call, q),
                                   .scale = call.optional_number("scale"),
                                   .causal = call.flag("is_causal")});
  Shape to = call.shape(q);
  if (to.rank() == 4 || to.rank() == 0) return one(y);
  to[to.rank() - 1] = call.shape(y)[3];
  return one(call.reshape(y, to));
}

}  // namespace rung::pt2::operators
