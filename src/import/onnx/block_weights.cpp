// ONNX Runtime's products with weights of few bits, and rows of such tables.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>

#include "import/onnx/block_codes.hpp"
#include "import/onnx/elements.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

constexpr int64_t kMostExtent = int64_t{1} << 31;

int64_t extent_of(const Call& call, std::string_view name) {
  const int64_t extent = call.integer(name);
  if (extent < 1 || extent > kMostExtent) refuse("{}: got {}, wanted 1 to {}", name, extent, kMostExtent);
  return extent;
}

int width_of_codes(const Call& call) {
  const int64_t bits = call.integer("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) refuse("bits: got {}, wanted 2, 4 or 8", bits);
  return static_cast<int>(bits);
}

int64_t block_width(const Call& call) {
  const int64_t block = call.integer("block_size");
  if (block < 16 || block > kMostExtent || !std::has_single_bit(static_cast<uint64_t>(block)))
    refuse("block_size: got {}, wanted a power of two from 16", block);
  return block;
}

int64_t bytes_of(int64_t count, int bits) { return (count * bits + 7) / 8; }

// A weight of the file, which an import in another type may have put a cast before.
SharedWeight weight_at(const Call& call, size_t input) {
  NodeId node = call[input];
  while (call.graph().as<Cast>(node)) node = call.graph()[node].operands[0];
  if (!call.graph().is_constant(node)) refuse("input {} depends on an input, wanted a weight of the file", input);
  return call.graph().weight(node);
}

SharedWeight weight_with(const Call& call, size_t input, int64_t elements) {
  if (call.type(call[input]).elements() != elements)
    refuse("input {}: got {}, wanted {} elements", input, call.type(call[input]), elements);
  return weight_at(call, input);
}

SharedWeight codes_of(const Call& call, size_t input, int bits, const Shape& to) {
  if (call.dtype(call[input]) != DType::u8) refuse("input {}: got {}, wanted u8", input, call.type(call[input]));
  const int64_t rows = to.product() / to.back();
  return unpacked_codes(weight_with(call, input, rows * bytes_of(to.back(), bits)), bits, to);
}

// Zero points of few bits, or floats.
SharedWeight zero_codes(const Call& call, size_t input, int bits, const Shape& to) {
  if (!call.has(input)) return nullptr;
  if (is_float(call.dtype(call[input]))) return weight_with(call, input, to.product());
  return codes_of(call, input, bits, to);
}

}  // namespace

// x w' + bias: w [N,K] of few bits. How exactly the product is to be computed is a hint, which is not followed.
Outputs matmul_nbits(const Call& call) {
  if (call.has(4)) refuse("input 4: an order of columns (g_idx)");
  if (call.integer("weight_prepacked", 0) != 0) refuse("weights packed for one kind of GPU (weight_prepacked)");
  const NodeId x = call[0];
  const int64_t n = extent_of(call, "N"), k = extent_of(call, "K"), block = block_width(call);
  const int bits = width_of_codes(call);
  const int64_t blocks = (k + block - 1) / block;
  const auto zero = static_cast<float>(std::ldexp(1, bits - 1));
  const BlockCodes codes{codes_of(call, 1, bits, Shape{n, blocks * block}),
                         weight_with(call, 2, n * blocks),
                         zero_codes(call, 3, bits, Shape{n, blocks}),
                         zero,
                         block,
                         bits == 4 ? weight_at(call, 1) : nullptr};
  const NodeId w = call.constant(dequantised_blocks(codes, {call.dtype(x), Shape{n, k}}));
  return {call.linear(x, w, call.optional(5))};
}

// x w', or x w: w [N,K] of codes of 4 bits that name floats: quantiles of a normal distribution (NF4; Dettmers et al.,
// 2023), or floats of 4 bits as bitsandbytes numbers them.
Outputs matmul_bnb4(const Call& call) {
  constexpr std::array<float, 16> kFloats{0,     5.208333333e-03F,  2.0F / 3,  1,  1.0F / 3,  0.5F,  1.0F / 6,  0.25F,
                                          -0.0F, -5.208333333e-03F, -2.0F / 3, -1, -1.0F / 3, -0.5F, -1.0F / 6, -0.25F};
  constexpr std::array<float, 16> kQuantiles{
      -1,         -0.6961928F, -0.52507305F, -0.3949175F, -0.28444138F, -0.18477343F, -0.091050036F, 0,
      0.0795803F, 0.1609302F,  0.2461123F,   0.33791524F, 0.44070983F,  0.562617F,    0.72295684F,   1};
  const NodeId x = call[0];
  const int64_t n = extent_of(call, "N"), k = extent_of(call, "K"), block = block_width(call);
  const int64_t kind = call.integer("quant_type");
  if (kind != 0 && kind != 1) refuse("quant_type: got {}, wanted 0 or 1", kind);
  if (call.dtype(call[1]) != DType::u8) refuse("input 1: got {}, wanted u8", call.type(call[1]));
  const NamedFloats floats{weight_with(call, 1, bytes_of(n * k, 4)), weight_with(call, 2, (n * k + block - 1) / block),
                           kind == 0 ? kFloats : kQuantiles, block};
  const NodeId w = call.constant(named_floats(floats, {call.dtype(x), Shape{n, k}}));
  return {call.integer("transB", 1) != 0 ? call.linear(x, w, std::nullopt) : call.matmul(x, w)};
}

// Rows of a table, each times the scales of its blocks along another axis.
Outputs gather_block_quantized(const Call& call) {
  const int64_t block = block_width(call);
  const bool is_packed = !call.elements().of(call[0]);
  const int bits = is_packed ? width_of_codes(call) : 8;
  NodeId table = call[0];
  if (is_packed && call.dtype(table) != DType::u8) refuse("input 0: got {}, wanted u8", call.type(table));
  for (const size_t input : {size_t{0}, size_t{2}, size_t{3}})
    if (call.has(input) &&
        (call.rank(call[input]) != call.rank(table) || call.type(call[input]).elements() == 0 || call.rank(table) == 0))
      refuse("input {}: rows of {}", input, call.type(call[input]));
  const auto apart = [&](size_t input, int64_t width) {
    Shape to = call.shape(call[input]);
    if (bits == 8) return call[input];
    to[to.rank() - 1] = width;
    return call.constant(codes_of(call, input, bits, to));
  };
  table = apart(0, call.shape(table).back() * (8 / bits));
  const int at = call.axis(table, call.integer("gather_axis", 0));
  const int along = call.axis(table, call.integer("quantize_axis", 1));
  if (at == along) refuse("rows along the axis {} of the blocks", along);
  const NodeId indices = call[1], scales = call[2];
  const int moved = along < at ? along : along + call.rank(indices) - 1;
  const auto rows = [&](NodeId x) { return call.cast(call.gather(x, indices, at), DType::f32); };
  NodeId y = rows(table);
  const auto spread = [&](NodeId x) { return by_block(call, y, rows(x), moved, block); };
  const double middle = is_packed ? std::ldexp(1, bits - 1) : 0;
  const NodeId zero = call.has(3) ? spread(apart(3, call.shape(scales).back())) : call.scalar(middle, DType::f32);
  y = call.binary(BinaryKind::mul, call.binary(BinaryKind::sub, y, zero), spread(scales));
  return {call.cast(y, call.dtype(scales))};
}

}  // namespace rung::onnx::operators
