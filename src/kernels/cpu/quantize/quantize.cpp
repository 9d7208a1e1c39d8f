// Rows of the vectorised quantize into i8. Floats of 8 bits are the fallback's.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/quantize/quantize.hpp"

#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"

namespace rung::cpu {
namespace {

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  const Operand& x = p.inputs[0];
  if (!is_computed_float(x.dtype)) return reject("only f32, bf16 and f16");
  if (p.output.dtype != DType::i8 || p.as<Quantize>().group > 0) return reject("only to i8, by whole rows");
  return x.is_rows() ? accept() : reject("x is not made of dense rows");
}

template <CpuIsa isa>
void run(const Call& call) {
  const Operand& x = call.problem.inputs[0];
  const Range mine = share(x.rows(), call.part, call.parts);
  const int64_t width = x.shape.back(), first = mine.begin * x.row_stride() * static_cast<int64_t>(size_of(x.dtype));
  const auto result = [&, results = results_of(call.problem)](size_t i) {
    return reinterpret_cast<float*>(call.out<std::byte>() + results[i].offset);
  };
  const Columns& outliers = call.problem.as<Quantize>().outliers;
  const auto count = static_cast<int64_t>(outliers.size());
  const QuantizeWork work{.x_type = x.dtype,
                          .x = call.in<std::byte>(0) + first,
                          .x_stride = x.row_stride(),
                          .rows = mine.count(),
                          .width = width,
                          .to = call.out<int8_t>() + mine.begin * width,
                          .scales = result(1) + mine.begin,
                          .outliers = outliers,
                          .outlier_values = count ? result(2) + mine.begin * count : nullptr};
  isa == CpuIsa::avx2 ? avx2::quantize(work) : avx512::quantize(work);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name, .op = "quantize", .supports = supports<isa>, .run = run<isa>, .split = split_by_elements};
}

}  // namespace

extern const Kernel quantize_avx512 = row<CpuIsa::avx512>("quantize_avx512");
extern const Kernel quantize_avx2 = row<CpuIsa::avx2>("quantize_avx2");

}  // namespace rung::cpu
