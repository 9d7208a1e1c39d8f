// The closed set of operations: one small struct each, whose fields print, parse, compare and hash by themselves. A
// node is the value of its op's first result; `result(node, index=i)` is the value of a further one, of the few ops
// that have several. Types: T is any float type; arithmetic accumulates in f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/category.hpp"
#include "ir/cell.hpp"
#include "ir/fault.hpp"
#include "ir/formulas.hpp"
#include "ir/key_span.hpp"
#include "ir/narrowing.hpp"
#include "ir/op_contractions.hpp"
#include "ir/op_fields.hpp"
#include "ir/op_kinds.hpp"
#include "ir/shape.hpp"
#include "ir/slots.hpp"

namespace rung {

// ---- sources

// A named input of the graph.
struct Input {
  RUNG_OP("input", other, none, stays);
  std::string name;
  RUNG_FIELDS(RUNG_FIELD(Input, name))
  RUNG_EQUAL(Input);
};
// A weight; the graph's node holds it. Text form: constant(name="w"), small literals with values=[...].
struct Constant {
  RUNG_OP("constant", other, none, stays);
  std::string name;
  RUNG_FIELDS(RUNG_FIELD(Constant, name))
  RUNG_EQUAL(Constant);
};

// result(node): result `index` of the op that `node` is the first result of; 1 is the first further one.
struct NthResult {
  RUNG_OP("result", other, none, stays);
  int64_t index = 1;
  RUNG_FIELDS(RUNG_FIELD(NthResult, index))
  RUNG_EQUAL(NthResult);
};

// ---- element-wise; operands broadcast by numpy's rule and have one dtype. Text name is the kind's: add(a, b).

struct Unary {
  RUNG_OP("unary", elementwise, none, with_all);
  UnaryKind kind = UnaryKind::neg;
  RUNG_FIELDS()
  RUNG_EQUAL(Unary);
};
// Binary ops; comparisons give bool.
struct Binary {
  RUNG_OP("binary", elementwise, integer_divided_by_zero, with_all);
  BinaryKind kind = BinaryKind::add;
  bool divides() const { return kind == BinaryKind::div; }
  RUNG_FIELDS()
  RUNG_EQUAL(Binary);
};
struct Cast {
  RUNG_OP("cast", elementwise, none, converts);
  DType to = DType::f32;
  RUNG_FIELDS(RUNG_FIELD(Cast, to))
  RUNG_EQUAL(Cast);
};
// select(condition: bool, a, b): a where true, else b.
struct Select {
  RUNG_OP("select", elementwise, none, with_all);
  RUNG_FIELDS()
  RUNG_EQUAL(Select);
};

// formula(x: T) or formula(x: T, y: T) -> T: a function that models call rarely (ir/formulas.inc). Integers wrap around
// in their own width; a division of them by zero is an error at run time.
struct Formula {
  RUNG_OP("formula", elementwise, integer_divided_by_zero, stays);
  FormulaKind kind = FormulaKind::tan;
  bool divides() const { return kind == FormulaKind::fmod || kind == FormulaKind::floor_mod; }
  RUNG_FIELDS(RUNG_FIELD(Formula, kind))
  RUNG_EQUAL(Formula);
};

// ---- reductions and normalisations; statistics in f32. Softmax is NaN where all values are -inf.

struct Softmax {
  RUNG_OP("softmax", normalisation, none, stays);
  int64_t axis = -1;
  RUNG_FIELDS(RUNG_FIELD(Softmax, axis))
  RUNG_EQUAL(Softmax);
};
// layer_norm(x: T[...,D], the slot residual: like x, weight: U[D], bias: U[D]) -> out: LN(x + residual)
struct LayerNorm {
  RUNG_OP("layer_norm", normalisation, none, norm);
  LayerNormSlots slots;
  float eps = 1e-5f;
  DType out = DType::f32;
  bool has_residual() const { return slots.has(LayerNormSlot::residual); }
  RUNG_FIELDS(RUNG_FIELD(LayerNorm, slots), RUNG_FIELD(LayerNorm, eps), RUNG_FIELD(LayerNorm, out))
  RUNG_EQUAL(LayerNorm);
};
// rms_norm(x: T[...,D], weight: U[D]) -> out: x * rsqrt(mean(x^2) + eps) * (weight_offset + weight)
struct RmsNorm {
  RUNG_OP("rms_norm", normalisation, none, norm);
  float eps = 1e-6f;
  float weight_offset = 0.0f;
  DType out = DType::f32;
  RUNG_FIELDS(RUNG_FIELD(RmsNorm, eps), RUNG_FIELD(RmsNorm, weight_offset), RUNG_FIELD(RmsNorm, out))
  RUNG_EQUAL(RmsNorm);
};
// l2_normalize(x: T[...,D]) -> x / max(|x|, eps) over the last axis
struct L2Normalize {
  RUNG_OP("l2_normalize", normalisation, none, stays);
  float eps = 1e-12f;
  RUNG_FIELDS(RUNG_FIELD(L2Normalize, eps))
  RUNG_EQUAL(L2Normalize);
};
// group_norm(x: T[B,R...,C]) -> like x: (x - mean) * rsqrt(variance + eps), of each run of channels over all places R;
// channels stand last, and are cut into as many equal runs as there are groups.
struct GroupNorm {
  RUNG_OP("group_norm", normalisation, none, stays);
  int64_t groups = 1;
  float eps = 1e-5f;
  RUNG_FIELDS(RUNG_FIELD(GroupNorm, groups), RUNG_FIELD(GroupNorm, eps))
  RUNG_EQUAL(GroupNorm);
};
struct Reduce {
  RUNG_OP("reduce", other, none, stays);
  ReduceKind kind = ReduceKind::sum;
  int64_t axis = -1;
  bool keep_dim = false;
  RUNG_FIELDS(RUNG_FIELD(Reduce, kind), RUNG_FIELD(Reduce, axis), RUNG_FIELD(Reduce, keep_dim))
  RUNG_EQUAL(Reduce);
};
// quantize(x: T[...,D]) -> to[...,D]; result 1: f32[...], each row's s: x is about the first result times s. With M the
// largest number of `to` (f8e4m3fn 448, f8e4m3fnuz 240, i8 127) s = max |x| / M, and 1 for a row of zeros; the first
// result is x / s, rounded to nearest even. A NaN in x makes its row's s NaN.
// group: 0, or a multiple of 8 that divides D: then result 2: i8[...,D/group] are scales u of runs of neighbours, and x
// is about s u times the first result, of i8. to=u8 wants a group and makes numbers c of 4 bits: the first result is
// u8[...,D/2], whose byte i holds 8 + c of element 2i in its lower half and that of element 2i + 1 in its upper half;
// result 3: i8[...,D/group] are offsets o, and x is about s (u c + 8 o). u and o are fitted to small squared errors.
// outliers: ascending columns, without a group, of to=i8: s leaves them out, the first result is 0 there, and result 2:
// f32[...,J] is x in these J columns.
struct Quantize {
  RUNG_OP("quantize", elementwise, none, stays);
  RUNG_RESULTS(4);
  DType to = DType::f8e4m3fn;
  int64_t group = 0;
  Columns outliers = {};
  RUNG_FIELDS(RUNG_FIELD(Quantize, to), RUNG_FIELD(Quantize, group), RUNG_FIELD(Quantize, outliers))
  RUNG_EQUAL(Quantize);
};
// The k largest elements of each row, in descending order, equal ones by ascending place, NaN before all numbers.
// top_k(x: T[...,D]) -> values: T[...,k]; result 1: their places in the row, i64[...,k]
struct TopK {
  RUNG_OP("top_k", other, none, stays);
  RUNG_RESULTS(2);
  int64_t k = 1;
  RUNG_FIELDS(RUNG_FIELD(TopK, k))
  RUNG_EQUAL(TopK);
};
// Running sum along an axis, inclusive; i64 for integers and bool, else x's type.
struct CumSum {
  RUNG_OP("cumsum", other, none, stays);
  int64_t axis = -1;
  RUNG_FIELDS(RUNG_FIELD(CumSum, axis))
  RUNG_EQUAL(CumSum);
};

// recurrence(x: T[S,B,G H], w: T[G H,H], h: T[B,H], of a lstm c: T[B,H], of a gru bias: T[H]) -> T[S,B,H]: the state h
// after each step, from the given one on; backward: from the last step to the first. x is what comes in, after its
// product with the gates. With s = x + w h, by gates in the order in which rows of w have them:
//   rnn: h = tanh(s)
//   gru (reset, update, fresh): h = n + u (h - n), n = tanh(x_n + r (w_n h + bias)), r = sigmoid(s_r), u = sigmoid(s_u)
//   lstm (input, forget, fresh, output): c = sigmoid(s_f) c + sigmoid(s_i) tanh(s_n), h = sigmoid(s_o) tanh(c)
// A lstm's result 1 is c after its last step, T[1,B,H].
struct Recurrence {
  RUNG_OP("recurrence", other, none, stays);
  RUNG_RESULTS(2);
  CellKind cell = CellKind::lstm;
  bool backward = false;
  RUNG_FIELDS(RUNG_FIELD(Recurrence, cell), RUNG_FIELD(Recurrence, backward))
  RUNG_EQUAL(Recurrence);
};

// sample(logits: T[V] or T[1,V], settings: f32[8], draw: i64[2], the slots bias: f32[V], seen: i32[V] or i64[V])
//   -> i64[1]: a token, by the arithmetic of ir/sampling.hpp. draw: a seed and a counter; bias is added to the logits,
//   and -inf bans a token; seen: how often each token stands in the text. NaN, +inf, no token that is not banned, and a
//   setting out of its range are errors at run time.
struct Sample {
  RUNG_OP("sample", other, no_token_to_draw, stays);
  SampleSlots slots;
  bool has(SampleSlot slot) const { return slots.has(slot); }
  RUNG_FIELDS(RUNG_FIELD(Sample, slots))
  RUNG_EQUAL(Sample);
};

// ---- movement; all but concat and gather are free views where the reader accepts strides

struct Reshape {
  RUNG_OP("reshape", copy, none, with_all);
  Shape shape;
  RUNG_FIELDS(RUNG_FIELD(Reshape, shape))
  RUNG_EQUAL(Reshape);
};
// A view whose axis i is operand axis permutation[i].
struct Transpose {
  RUNG_OP("transpose", copy, none, with_all);
  Dims permutation;
  RUNG_FIELDS(RUNG_FIELD(Transpose, permutation))
  RUNG_EQUAL(Transpose);
};
// A view of elements begin, begin+step, ... below end.
struct Slice {
  RUNG_OP("slice", copy, none, with_all);
  int64_t axis = 0, begin = 0, end = 0, step = 1;
  RUNG_FIELDS(RUNG_FIELD(Slice, axis), RUNG_FIELD(Slice, begin), RUNG_FIELD(Slice, end), RUNG_FIELD(Slice, step))
  RUNG_EQUAL(Slice);
};
struct Concat {
  RUNG_OP("concat", copy, none, with_any);
  int64_t axis = 0;
  RUNG_FIELDS(RUNG_FIELD(Concat, axis))
  RUNG_EQUAL(Concat);
};
struct Broadcast {
  RUNG_OP("broadcast", copy, none, with_all);
  Shape shape;
  RUNG_FIELDS(RUNG_FIELD(Broadcast, shape))
  RUNG_EQUAL(Broadcast);
};
// gather(x, indices: i64|i32[I...]) -> x.shape with `axis` replaced by I...; an index out of range is an error at run
// time.
struct Gather {
  RUNG_OP("gather", copy, index_out_of_range, with_all);
  int64_t axis = 0;
  RUNG_FIELDS(RUNG_FIELD(Gather, axis))
  RUNG_EQUAL(Gather);
};

// scatter(x: T[N,...], indices: i64[M], updates: T[M,...]) -> T[N,...]: x with row indices[i] joined with updates[i],
// one after another; an index out of range is an error at run time.
struct Scatter {
  RUNG_OP("scatter", copy, index_out_of_range, stays);
  ScatterKind kind = ScatterKind::set;
  RUNG_FIELDS(RUNG_FIELD(Scatter, kind))
  RUNG_EQUAL(Scatter);
};

// ---- what passes make of the above

// rope(x: T[...,D], cos, sin: broadcast to x) -> x*cos + rotate_half(x)*sin, rotate_half(x) = [-x[D/2:], x[:D/2]]
struct Rope {
  RUNG_OP("rope", elementwise, none, with_all);
  RUNG_FIELDS()
  RUNG_EQUAL(Rope);
};
// cache_heads(x: T[...,(H+2G) D], keys: C[N,G,D], values: C[N,G,D], places: i64[M], cos, sin: A[M,D], optionally
//             norm_weight: U[H+G,D]) -> q: T[...,H,D]; M rows of x
//   A row of x has H heads of queries, then G of keys and G of values. Heads of queries and keys are normalised one by
//   one, if there are weights, as rms_norm does it, and then rotated by their row's angles, as rope does it. q has the
//   queries; results 1 and 2 are `keys` and `values`, updated where they are: row places[i] is set to the heads of row
//   i, one after another. C is T or a float of 8 bits. A place out of range is an error at run time.
struct CacheHeads {
  RUNG_OP("cache_heads", elementwise, index_out_of_range, stays);
  RUNG_RESULTS(3);
  static constexpr size_t kX = 0, kKeys = 1, kValues = 2, kPlaces = 3, kCos = 4, kSin = 5, kNormWeight = 6;
  float eps = 1e-6f;
  float weight_offset = 0.0f;
  RUNG_FIELDS(RUNG_FIELD(CacheHeads, eps), RUNG_FIELD(CacheHeads, weight_offset))
  RUNG_EQUAL(CacheHeads);
};
// cached_attention(the operands of cache_heads, length: i64[1]) -> T[...,H,D]: cache_heads, and the attention of its
//   queries, [1,M,H,D], with that length over its results 1 and 2, [1,N,G,D]. These two are results 1 and 2 here, too,
//   and are updated where they are.
struct CachedAttention {
  RUNG_OP("cached_attention", attention, index_out_of_range, stays);
  RUNG_RESULTS(3);
  float eps = 1e-6f;
  float weight_offset = 0.0f;
  float scale = 1.0f;
  float softcap = 0.0f;
  KeySpan span;
  // Return its two parts.
  CacheHeads heads() const { return {.eps = eps, .weight_offset = weight_offset}; }
  Attention attention() const {
    return {.slots = {AttentionSlot::length}, .scale = scale, .softcap = softcap, .span = span};
  }
  RUNG_FIELDS(RUNG_FIELD(CachedAttention, eps), RUNG_FIELD(CachedAttention, weight_offset),
              RUNG_FIELD(CachedAttention, scale), RUNG_FIELD(CachedAttention, softcap),
              RUNG_PART_FIELD(CachedAttention, span, before), RUNG_PART_FIELD(CachedAttention, span, after),
              RUNG_PART_FIELD(CachedAttention, span, prefix))
  RUNG_EQUAL(CachedAttention);
};
// gated_mul(gate, up) -> activation(gate) * up
struct GatedMul {
  RUNG_OP("gated_mul", elementwise, none, with_all);
  Activation activation = Activation::silu;
  RUNG_FIELDS(RUNG_FIELD(GatedMul, activation))
  RUNG_EQUAL(GatedMul);
};
// im2col(x: T[B,C,H,W]) -> T[B,(H/patch)*(W/patch),C*patch*patch], patches in row order, channel-major inside.
struct Im2col {
  RUNG_OP("im2col", copy, none, with_all);
  int64_t patch = 1;
  RUNG_FIELDS(RUNG_FIELD(Im2col, patch))
  RUNG_EQUAL(Im2col);
};
// masked_mean(x: T[B,S,D], mask: f32[B,S]) -> T[B,D]: sum_s(x*mask) / max(sum_s(mask), eps)
struct MaskedMean {
  RUNG_OP("masked_mean", other, none, stays);
  float eps = 1e-9f;
  RUNG_FIELDS(RUNG_FIELD(MaskedMean, eps))
  RUNG_EQUAL(MaskedMean);
};
// A chain of element-wise ops run in one sweep. Registers 0..operands-1 are the operands (broadcast to the result),
// each instruction adds one; the last is the result. Values are held in f32 between instructions, bool as 0 or 1. Text:
// pointwise(a, b, program="r2=mul(r0,r1);r3=tanh(r2)").
struct Pointwise {
  RUNG_OP("pointwise", elementwise, none, with_any);
  std::string program;
  DType out = DType::f32;
  RUNG_FIELDS(RUNG_FIELD(Pointwise, program), RUNG_FIELD(Pointwise, out))
  RUNG_EQUAL(Pointwise);
};

// A program over rows: the operands broadcast to one shape [...,D], and each instruction gives a value of each element,
// or of each row along the last axis. Registers 0..operands-1 are the operands; ir/region.hpp has the language. Results
// are elements [...,D] or rows [...,1], the first one of elements if any is, each in a type of its own. Values are held
// in f32 between instructions, bool as 0 or 1. Text:
//   region(x, program="r1=row_max(r0);r2=sub(r0,r1);return r2:bf16,r1:f32")
struct Region {
  RUNG_OP("region", normalisation, none, stays);
  RUNG_RESULTS(8);
  std::string program;
  RUNG_FIELDS(RUNG_FIELD(Region, program))
  RUNG_EQUAL(Region);
};

// THE list of ops: the variant, the type rules, the semantics and the evaluator follow it.
// clang-format off
#define RUNG_EACH_OP(X)                                                                      \
  X(Input) X(Constant) X(NthResult)                                                          \
  X(Unary) X(Binary) X(Cast) X(Select) X(Formula) X(Rope) X(GatedMul) X(Pointwise) X(Region) \
  X(MatMul) X(Linear) X(Conv) X(Attention) X(Im2col) X(Pool)                                 \
  X(Softmax) X(LayerNorm) X(RmsNorm) X(L2Normalize) X(GroupNorm)                             \
  X(Reduce) X(Quantize) X(TopK) X(CumSum) X(MaskedMean) X(Recurrence) X(Sample)              \
  X(Reshape) X(Transpose) X(Slice) X(Concat) X(Broadcast) X(Gather) X(Scatter)               \
  X(CacheHeads) X(CachedAttention)
// clang-format on

template <class, class... Ops>
struct VariantAfter {
  using Type = std::variant<Ops...>;
};
#define RUNG_NEXT_OP(Struct) , Struct
using Op = VariantAfter<void RUNG_EACH_OP(RUNG_NEXT_OP)>::Type;
#undef RUNG_NEXT_OP

// Returns the op's word in text, logs and tables: "linear"; for unary and binary ops the kind: "add".
std::string_view name_of(const Op& op);
std::string_view name_of(UnaryKind kind);
std::string_view name_of(BinaryKind kind);
std::string_view name_of(ReduceKind kind);
std::string_view name_of(Activation activation);
std::string_view name_of(LinearSlot slot);
// Returns an op of that name with default fields; nullopt if there is none.
std::optional<Op> op_named(std::string_view name);
std::optional<Activation> activation_named(std::string_view name);
std::optional<ReduceKind> reduce_named(std::string_view name);
// Adds a slot by name. Errors: there is no such slot, or it does not come after all of `slots`.
Status add_slot_named(std::string_view name, LinearSlots& slots);
Status add_slot_named(std::string_view name, ConvSlots& slots);
Status add_slot_named(std::string_view name, AttentionSlots& slots);
Status add_slot_named(std::string_view name, LayerNormSlots& slots);
Status add_slot_named(std::string_view name, SampleSlots& slots);

// Returns "axis=1, eps=1e-06", only fields that differ from the default; parses back (ir/text).
std::string fields_to_string(const Op& op);

Category category_of(const Op& op);
Narrowing narrowing_of(const Op& op);
// Returns the fault that values of operands of these types can cause; Fault::none: there is none.
Fault fault_of(const Op& op, std::span<const Type> operands);

// Returns the first result's type, or an error naming the op, what it got and what it wanted. Input, Constant and
// NthResult have no rule: see Graph::infer().
Result<Type> infer_type(const Op& op, std::span<const Type> operands);
// Returns the types of all results, `first` among them, which infer_type() gave.
std::vector<Type> result_types(const Op& op, std::span<const Type> operands, const Type& first);

// Returns whether the op updates its operand `i`, which is then its result `i`: that result has no memory of its own.
bool updates(const Op& op, size_t i);

// Returns the field that some ops have for their result's float type; null for others, which keep the operands'.
DType* result_dtype(Op& op);
// Returns the field that names an axis; null for ops without one.
int64_t* axis_field(Op& op);

// A view changes only how the same elements are addressed.
bool is_view(const Op& op);         // reshape, transpose, slice, broadcast
bool is_elementwise(const Op& op);  // unary, binary, cast, select

template <class T>
const T* as(const Op& op) {
  return std::get_if<T>(&op);
}

}  // namespace rung
