// The inner loops of the peak measurements, one version per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::cpu {

struct PeakLoops {
  float (*read)(const float* data, int64_t count);  // sums all elements; count is a multiple of 256
  float (*multiply_add)(int64_t iterations);
  double flops_per_iteration;
};

namespace portable {
PeakLoops peak_loops();
}
namespace avx2 {
PeakLoops peak_loops();
}
namespace avx512 {
PeakLoops peak_loops();
}

}  // namespace rung::cpu
