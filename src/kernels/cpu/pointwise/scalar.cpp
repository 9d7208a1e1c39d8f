// Computes element-wise functions without a vector expression value by value, by their f32 expressions.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ir/function_math.hpp"
#include "kernels/cpu/pointwise/pointwise.hpp"

namespace rung::cpu {
namespace {

using namespace functions;

float rsqrtf(float x) { return 1.0f / sqrtf(x); }
float gelu_tanh(float x) {
  const float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(u));
}

template <class F>
void map(float* to, int64_t n, const F& f) {
  for (int64_t i = 0; i < n; ++i) to[i] = f(i);
}

}  // namespace

void apply_scalar(Code code, float* to, int64_t n, const float* from_x, const float* from_y) {
  switch (code) {
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) \
  case Code::kind:                                            \
    return map(to, n, [&](int64_t i) -> float {               \
      const float x = from_x[i];                              \
      return f32;                                             \
    });
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) \
  case Code::kind:                                                              \
    return map(to, n, [&](int64_t i) -> float {                                 \
      const float x = from_x[i], y = from_y[i];                                 \
      return f32;                                                               \
    });
#include "ir/functions.inc"
    default:
      return;
  }
}

bool is_vectorised(Code code) {
  switch (code) {
#define RUNG_MAP1(kind, ...) case Code::kind:
#define RUNG_MAP2(kind, ...) case Code::kind:
#include "kernels/cpu/pointwise/vector_steps.inc"
    case Code::select:
    case Code::round_bf16:
    case Code::round_f16:
    case Code::copy:
      return true;
    default:
      return false;
  }
}

}  // namespace rung::cpu
