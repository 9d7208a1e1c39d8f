// The row of casts from and to floats of 8 bits, one after another: what a run adds to a cache is little.
// SPDX-License-Identifier: Apache-2.0
#include "ir/with_type.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"

namespace rung::cpu {
namespace {

template <class T>
constexpr bool kFloat = kStoredFloat<T> || std::is_same_v<T, float>;

Verdict supports(const Problem& p, const Machine&) {
  const DType from = p.inputs[0].dtype, to = p.output.dtype;
  if (!is_float(from) || !is_float(to) || is_f8(from) == is_f8(to))
    return reject(fmt::format("{} to {}, wanted a float of 8 bits on one side and a wider one on the other",
                              name_of(from), name_of(to)));
  return p.inputs[0].contiguous() ? accept() : reject("x is not dense");
}

void run(const Call& call) {
  const Range mine = share(call.problem.output.shape.product(), call.part, call.parts);
  with_type(call.problem.inputs[0].dtype, [&](auto from) {
    with_type(call.problem.output.dtype, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (kFloat<From> && kFloat<To>)
        for (int64_t i = mine.begin; i < mine.end; ++i)
          call.out<To>()[i] = static_cast<To>(static_cast<float>(call.in<From>(0)[i]));
    });
  });
}

}  // namespace

extern const Kernel cast_f8{
    .name = "cast_f8", .op = "cast", .supports = supports, .run = run, .split = split_by_elements};

}  // namespace rung::cpu
