// The ops that multiply and add up: part of the closed set in ir/op.hpp, which says what the types mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "ir/category.hpp"
#include "ir/fault.hpp"
#include "ir/key_span.hpp"
#include "ir/narrowing.hpp"
#include "ir/op_fields.hpp"
#include "ir/op_kinds.hpp"
#include "ir/shape.hpp"
#include "ir/slots.hpp"

namespace rung {

// matmul(a: T[...,M,K], b: T[...,K,N]) -> T[...,M,N]; leading dimensions broadcast.
struct MatMul {
  RUNG_OP("matmul", gemm, none, products);
  RUNG_FIELDS()
  RUNG_EQUAL(MatMul);
};
// linear(x: T[...,K], w: U[N,K], then those operands that `slots` names, in the order of LinearSlot) -> out[...,N]
//   y = factor (activation(r s x w' + bias) + residual)
// Prologue, before the products x w':
// squares: Q[...,R], R divides K: means of squares, of K/R neighbours each, of the row that an RMS norm would see; the
// row's factor in that norm is r = 1 / sqrt(their mean + eps); without them r = 1.
// scale: f32[rows of w], x_scale: f32[...]: s is the product of that of the row of w and that of the row of x, or of
// those that are there; x or w are then numbers of 8 bits, as quantize() makes them. Integers are i8, with a scale.
// group_scale: i8[rows of w, K/G], G divides K: besides the row's scale, each run of G columns of w has its own, and
// w is i8. With group_offset: i8[rows of w, K/G] w is u8[N,K/2] of numbers of 4 bits. x then has no scale. The number
// that x multiplies is, as quantize() says, scale (group_scale w), or scale (group_scale w + 8 group_offset).
// A group_scale of f32 stands alone, without the row's scale, beside a group_offset and w of 4 bits: the number that x
// multiplies is then group_scale (w + group_offset).
// x_outliers: f32[...,J], w_outliers: V[rows of w,J], beside scale and x_scale: the products of J further columns,
// x_outliers w_outliers', are added to r s x w'; quantize() leaves such columns out of x and w.
// Epilogue, after the products:
// bias: V[N], residual: R[...,N]. A bias of i32, which wants x and w of i8, is added to x w', in integers.
// gated: w is [2N,K] (gate rows, then up rows), bias [2N]: y = activation(gate) * up + residual.
// cos, sin: A[...,D]: the first rotated_heads runs of D columns of y are rotated (RoPE), each row by its own angles;
// then it is not gated, and has neither activation nor residual.
// norm_weight: S[N], weight of an RMS norm of y that follows, N a multiple of norm_run; not gated, no rotated heads.
// factor: a constant one, which gives results of 8 bits a fitting size.
// Beside y, which is the next residual, there are then two further results, for linears that take over that norm:
//   result 1: normed [...,N], y * norm_weight, which is their x
//   result 2: f32 [...,N/norm_run], means of y^2, of norm_run neighbours each, which are their squares
struct Linear {
  RUNG_OP("linear", gemm, none, products);
  RUNG_RESULTS(3);
  struct Prologue {
    float eps = 1e-6f;
    RUNG_EQUAL(Prologue);
  };
  struct Epilogue {
    bool gated = false;
    Activation activation = Activation::none;
    int64_t rotated_heads = 0;
    int64_t norm_run = 0;  // 0: no norm_weight
    DType normed = DType::bf16;
    float factor = 1.0f;
    RUNG_EQUAL(Epilogue);
  };
  LinearSlots slots;
  Prologue prologue;
  Epilogue epilogue;
  DType out = DType::f32;

  bool has(LinearSlot slot) const { return slots.has(slot); }
  // Returns whether it takes no more than those operands.
  bool is_within(const LinearSlots& known) const { return slots.within(known); }
  // Returns whether it has a form that late passes make, for kernels that asked for it.
  bool is_extended() const { return !is_within({LinearSlot::bias, LinearSlot::residual}); }
  // Returns whether it is just x w' + bias, or x w'.
  bool is_plain() const { return is_within({LinearSlot::bias}) && epilogue == Epilogue{}; }
  RUNG_FIELDS(RUNG_FIELD(Linear, slots), RUNG_PART_FIELD(Linear, prologue, eps),
              RUNG_PART_FIELD(Linear, epilogue, gated), RUNG_PART_FIELD(Linear, epilogue, activation),
              RUNG_PART_FIELD(Linear, epilogue, rotated_heads), RUNG_PART_FIELD(Linear, epilogue, norm_run),
              RUNG_PART_FIELD(Linear, epilogue, normed), RUNG_PART_FIELD(Linear, epilogue, factor),
              RUNG_FIELD(Linear, out))
  RUNG_EQUAL(Linear);
};
// conv(x: T[B,I...,C], w: T[O,K...,C/groups], the slots bias: V[O] or V[2,O], residual: S[B,R...,O]) -> T[B,R...,O]
//   y = tail(last(activation(products * f + b) + residual)); a bias V[2,O] is f and b, one of V[O] is b, and f is 1.
// tail: a pointwise program of one operand, such as "r1=max(r0,0);r2=min(r1,6)"; empty: there is none.
// Channels stand last. There are one to three axes I; each list has a number for each of them, or is empty: steps of 1,
// nothing around x. Result r of an axis sees x[r * stride + k * dilation - before] through tap k, and zero outside of
// x:
//   R = (I + before + after - dilation * (K - 1) - 1) / stride + 1
// transposed: result r sees x[i] through tap k where r = i * stride + k * dilation - before:
//   R = (I - 1) * stride + dilation * (K - 1) + 1 - before - after + extra
// Channels and rows of w are cut into as many equal runs as there are groups; each run of rows reads its run of
// channels.
// scale: f32[O], of integers: conv(x: u8|i8, w: i8, bias: i32[O] or f32[O]) -> f32, or `out` of 8 bits:
//   y = last(activation(scale * (products of x - zero + bias)) + residual)
// A bias of i32 is added in integers; outside of x stands `zero`, which is what x has for 0. With `out`, which wants no
// residual, the result is y, rounded to nearest even, plus out_zero, limited to the numbers of the type.
struct Conv {
  RUNG_OP("conv", gemm, none, products);
  ConvSlots slots;
  Dims stride, dilation, before, after;
  Dims extra;  // of a transposed one
  int64_t groups = 1;
  bool transposed = false;
  Activation activation = Activation::none;
  Activation last = Activation::none;  // only with a residual
  std::string tail;
  int64_t zero = 0, out_zero = 0;  // of integers
  std::optional<DType> out;        // none: a float
  bool has(ConvSlot slot) const { return slots.has(slot); }
  bool is_of_integers() const { return has(ConvSlot::scale); }
  // Returns whether it is just products of floats, or products + bias.
  bool is_plain() const {
    return !is_of_integers() && !has(ConvSlot::residual) && activation == Activation::none &&
           last == Activation::none && tail.empty();
  }
  RUNG_FIELDS(RUNG_FIELD(Conv, slots), RUNG_FIELD(Conv, stride), RUNG_FIELD(Conv, dilation), RUNG_FIELD(Conv, before),
              RUNG_FIELD(Conv, after), RUNG_FIELD(Conv, extra), RUNG_FIELD(Conv, groups), RUNG_FIELD(Conv, transposed),
              RUNG_FIELD(Conv, activation), RUNG_FIELD(Conv, last), RUNG_FIELD(Conv, tail), RUNG_FIELD(Conv, zero),
              RUNG_FIELD(Conv, out_zero), RUNG_FIELD(Conv, out))
  RUNG_EQUAL(Conv);
};
// pool(x: T[B,I...,C]) -> T[B,R...,C]: the largest element of each window, or the sum or mean of those inside of x. The
// windows are conv's, of `window` taps along each axis. Where a window sees no element, the largest is -inf, the sum 0
// and the mean NaN. places: result 1 is i64[B,R...,C], the place of the first largest among the elements of I..., in
// row order; NaN is larger than every number.
struct Pool {
  RUNG_OP("pool", other, none, stays);
  RUNG_RESULTS(2);
  ReduceKind kind = ReduceKind::max;
  Dims window, stride, dilation, before, after;
  bool places = false;
  RUNG_FIELDS(RUNG_FIELD(Pool, kind), RUNG_FIELD(Pool, window), RUNG_FIELD(Pool, stride), RUNG_FIELD(Pool, dilation),
              RUNG_FIELD(Pool, before), RUNG_FIELD(Pool, after), RUNG_FIELD(Pool, places))
  RUNG_EQUAL(Pool);
};
// attention(q: T[B,S,H,D], the slots mask: f32 broadcast to [B,H,S,K], length: i64[1], then for each segment
//           k: C[B,Ki,G,D], v: C[B,Ki,G,D]) -> T[B,S,H,D] or out[B,S,H,D]:
//   factor * softmax(cap(scale * q k') + mask) v, softmax in f32
//   Keys of all segments one after another (K = sum of Ki); query head h reads key head h / (H/G); G divides H. Where
//   the mask is -inf for every key a query gets zeros, not softmax's NaN; numbers, however low, take no key away.
//   Keys outside the query's span are taken away, too. C is T or, of one segment, a float of 8 bits.
//   length: k and v are a cache of one segment, without a mask, filled up to that place, which is S at least: query i
//   stands at place length - S + i, and key j holds the last place below length that is j modulo K, or nothing, which
//   is taken away. So a cache that is shorter than the text is a ring of its last K places. The span counts places.
//   out: a type of 8 bits, to which quantize() rounds, too: to nearest even, limited to the largest numbers. The
//   constant factor gives such results a fitting size.
struct Attention {
  RUNG_OP("attention", attention, index_out_of_range, products);
  AttentionSlots slots;
  float scale = 1.0f;
  float softcap = 0.0f;  // c: a scaled score s becomes c tanh(s / c) before the mask; 0: it stays
  KeySpan span;
  int64_t segments = 1;
  float factor = 1.0f;
  std::optional<DType> out;  // none: the type of q
  bool has_mask() const { return slots.has(AttentionSlot::mask); }
  bool has_length() const { return slots.has(AttentionSlot::length); }
  // Returns the index of the first segment's keys; its values and the other segments follow.
  size_t first_key() const { return slots.size(); }
  // Returns whether the result is what the sums are, in the type of q.
  bool is_plain() const { return factor == 1.0f && !out; }
  RUNG_FIELDS(RUNG_FIELD(Attention, slots), RUNG_FIELD(Attention, scale), RUNG_FIELD(Attention, softcap),
              RUNG_PART_FIELD(Attention, span, before), RUNG_PART_FIELD(Attention, span, after),
              RUNG_PART_FIELD(Attention, span, prefix), RUNG_FIELD(Attention, segments), RUNG_FIELD(Attention, factor),
              RUNG_FIELD(Attention, out))
  RUNG_EQUAL(Attention);
};

}  // namespace rung
