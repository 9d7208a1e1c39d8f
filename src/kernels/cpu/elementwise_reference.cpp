// Reference rows of the element-wise ops: unary, binary, cast, select. Floats compute in f32,
// integers and bool in i64; an integer division by zero is reported as a fault.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/element.hpp"
#include "kernels/cpu/scalar_math.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem& p, const Machine&) {
  for (const Operand& x : p.inputs)
    if (!has_type(x.dtype)) return reject("f8 is reserved");
  return has_type(p.output.dtype) ? accept() : reject("f8 is reserved");
}

// Calls f(output index, walk) for each of this thread's positions.
template <size_t N, class F>
void each(const Call& call, F&& f) {
  const Problem& p = call.problem;
  std::array<Strides, N> strides;
  for (size_t i = 0; i < N; ++i) strides[i] = broadcast_strides(p.inputs[i], p.output.shape);
  Range mine = share(p.output.shape.product(), call.thread, p.threads);
  if (mine.begin == mine.end) return;
  Walk<N> walk(p.output.shape, strides, mine.begin);
  for (int64_t i = mine.begin; i < mine.end; ++i, walk.next()) f(i, walk);
}

void run_unary(const Call& call) {
  UnaryKind kind = call.problem.as<Unary>().kind;
  DType dtype = call.problem.output.dtype;
  each<1>(call, [&](int64_t i, const auto& x) {
    if (is_float(dtype))
      store_f32(call.output, dtype, i, scalar(kind, load_f32(call.inputs[0], dtype, x[0])));
    else
      store_i64(call.output, dtype, i, scalar(kind, load_i64(call.inputs[0], dtype, x[0])));
  });
}

void run_binary(const Call& call) {
  BinaryKind kind = call.problem.as<Binary>().kind;
  DType in = call.problem.inputs[0].dtype, out = call.problem.output.dtype;
  each<2>(call, [&](int64_t i, const auto& at) {
    if (is_float(in)) {
      float x = load_f32(call.inputs[0], in, at[0]), y = load_f32(call.inputs[1], in, at[1]);
      return store_f32(call.output, out, i, scalar(kind, x, y));
    }
    int64_t x = load_i64(call.inputs[0], in, at[0]), y = load_i64(call.inputs[1], in, at[1]);
    if (kind == BinaryKind::div && y == 0) call.fault->store(Fault::integer_divided_by_zero, std::memory_order_relaxed);
    store_i64(call.output, out, i, scalar(kind, x, y));
  });
}

void run_cast(const Call& call) {
  DType in = call.problem.inputs[0].dtype, out = call.problem.output.dtype;
  each<1>(call, [&](int64_t i, const auto& x) {
    if (is_float(in))
      store_f32(call.output, out, i, load_f32(call.inputs[0], in, x[0]));
    else
      store_i64(call.output, out, i, load_i64(call.inputs[0], in, x[0]));
  });
}

void run_select(const Call& call) {
  with_type(call.problem.output.dtype, [&](auto tag) {
    using T = decltype(tag);
    each<3>(call, [&](int64_t i, const auto& x) {
      call.out<T>()[i] = call.in<bool>(0)[x[0]] ? call.in<T>(1)[x[1]] : call.in<T>(2)[x[2]];
    });
  });
}

}  // namespace

extern const Kernel unary_reference{
    .name = "unary_reference", .op = "unary", .supports = supports, .run = run_unary, .role = Role::fallback};
extern const Kernel binary_reference{
    .name = "binary_reference", .op = "binary", .supports = supports, .run = run_binary, .role = Role::fallback};
extern const Kernel cast_reference{
    .name = "cast_reference", .op = "cast", .supports = supports, .run = run_cast, .role = Role::fallback};
extern const Kernel select_reference{
    .name = "select_reference", .op = "select", .supports = supports, .run = run_select, .role = Role::fallback};

}  // namespace rung::cpu
