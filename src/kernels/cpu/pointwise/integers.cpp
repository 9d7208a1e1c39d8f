// Rows of element-wise ops on integers of 64 bits, of which places and indices are made: loops that compilers
// vectorise.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "ir/function_math.hpp"
#include "ir/with_type.hpp"
#include "kernels/collapse.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

using namespace functions;

constexpr int64_t unsupported() { return 0; }
constexpr auto divide = quotient;

std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  std::vector<Strides> strides;
  for (const Operand& x : p.inputs) strides.push_back(broadcast_strides(x, p.output.shape));
  strides.push_back(contiguous_strides(p.output.shape));
  return std::make_shared<Loops>(collapse(p.output.shape, strides));
}

// Calls f(offsets of operands and result, elements) for each run of a part's elements.
template <class F>
void each_run(const Call& call, const F& f) {
  const auto& loops = *static_cast<const Loops*>(call.state);
  const bool by_rows = loops.outer > 1;
  const Range rows = by_rows ? share(loops.outer, call.part, call.parts) : Range{0, 1};
  const Range mine = by_rows ? Range{0, loops.inner} : share(loops.inner, call.part, call.parts, 64);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t offsets[kMaxLoopOperands];
    outer_offsets(loops, row, offsets);
    for (int i = 0; i < loops.operands; ++i) offsets[i] += mine.begin * loops.inner_strides[i];
    f(offsets, mine.count());
  }
}

template <class T>
struct Line {
  const T* at;
  int64_t step;
  T operator[](int64_t i) const { return at[i * step]; }
};
template <class T>
Line<T> line(const Call& call, size_t operand, const int64_t* offsets) {
  const auto& loops = *static_cast<const Loops*>(call.state);
  return {call.in<T>(operand) + offsets[operand], loops.inner_strides[operand]};
}

// ---- binary ops

Verdict supports_binary(const Problem& p, const Machine&) {
  for (const Operand& x : p.inputs)
    if (x.dtype != DType::i64) return reject("an operand is not i64");
  return p.as<Binary>().divides() ? reject("it divides") : accept();
}

template <class To, class F>
void map(const Call& call, const F& f) {
  each_run(call, [&](const int64_t* offsets, int64_t count) {
    const Line<int64_t> x = line<int64_t>(call, 0, offsets), y = line<int64_t>(call, 1, offsets);
    To* to = call.out<To>() + offsets[2];
    if (x.step == 1 && y.step == 1)
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(f(x.at[i], y.at[i]));
    else if (x.step == 1 && y.step == 0)
      for (int64_t i = 0, same = *y.at; i < count; ++i) to[i] = static_cast<To>(f(x.at[i], same));
    else
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(f(x[i], y[i]));
  });
}

void run_binary(const Call& call) {
  const bool compares = call.problem.output.dtype == DType::boolean;
  switch (call.problem.as<Binary>().kind) {
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer)                               \
  case BinaryKind::kind: {                                                                                    \
    const auto f = []([[maybe_unused]] int64_t x, [[maybe_unused]] int64_t y) -> int64_t { return integer; }; \
    return compares ? map<bool>(call, f) : map<int64_t>(call, f);                                             \
  }
#include "ir/functions.inc"
  }
}

// ---- select

Verdict supports_select(const Problem& p, const Machine&) {
  return p.output.dtype == DType::i64 ? accept() : reject("it selects no i64");
}

void run_select(const Call& call) {
  each_run(call, [&](const int64_t* offsets, int64_t count) {
    const Line<bool> condition = line<bool>(call, 0, offsets);
    const Line<int64_t> x = line<int64_t>(call, 1, offsets), y = line<int64_t>(call, 2, offsets);
    int64_t* to = call.out<int64_t>() + offsets[3];
    for (int64_t i = 0; i < count; ++i) to[i] = condition[i] ? x[i] : y[i];
  });
}

// ---- casts

Verdict supports_cast(const Problem& p, const Machine&) {
  const DType from = p.inputs[0].dtype, to = p.output.dtype;
  if (from != DType::i64 && to != DType::i64) return reject("neither type is i64");
  return is_f8(from) || is_f8(to) ? reject("a float of 8 bits") : accept();
}

template <class From, class To>
void convert(const Call& call) {
  each_run(call, [&](const int64_t* offsets, int64_t count) {
    const Line<From> x = line<From>(call, 0, offsets);
    To* to = call.out<To>() + offsets[1];
    for (int64_t i = 0; i < count; ++i)
      if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
        to[i] = static_cast<To>(x[i]);
      else  // floats of 16 bits are made of f32 and become f32
        to[i] = static_cast<To>(static_cast<float>(x[i]));
  });
}

void run_cast(const Call& call) {
  const DType from = call.problem.inputs[0].dtype, to = call.problem.output.dtype;
  if (from == DType::i64)
    with_type(to, [&](auto tag) { convert<int64_t, decltype(tag)>(call); });
  else
    with_type(from, [&](auto tag) { convert<decltype(tag), int64_t>(call); });
}

}  // namespace

extern const Kernel binary_integers{.name = "binary_integers",
                                    .op = "binary",
                                    .supports = supports_binary,
                                    .run = run_binary,
                                    .prepare = prepare,
                                    .split = split_by_elements};
extern const Kernel select_integers{.name = "select_integers",
                                    .op = "select",
                                    .supports = supports_select,
                                    .run = run_select,
                                    .prepare = prepare,
                                    .split = split_by_elements};
extern const Kernel cast_integers{.name = "cast_integers",
                                  .op = "cast",
                                  .supports = supports_cast,
                                  .run = run_cast,
                                  .prepare = prepare,
                                  .split = split_by_elements};

}  // namespace rung::cpu
