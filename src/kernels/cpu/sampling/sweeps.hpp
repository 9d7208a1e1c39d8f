// The parts of sampling that read many logits, as vectorised functions for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"
#include "ir/sampling.hpp"

namespace rung::cpu {

inline constexpr int64_t kRun = 256;  // neighbouring logits, of which the largest and the sum of weights are kept

// The op's operands that make logits; bias and seen are null where the op has none, or settings make no use of them.
struct GivenLogits {
  DType type, seen_type;  // seen_type: i32 or i64
  const void *logits, *seen;
  const float* bias;
  const sampling::Settings* settings;
};

// How logits become weights; those below `least` count as 0.
struct Weighing {
  float largest, factor;
  uint64_t least;
};

struct Sweeps {
  // Stores logits [begin, end) with penalties and bias in f32; begin is a multiple of kRun.
  void (*adjust)(const GivenLogits& given, int64_t begin, int64_t end, float* logits);
  // Returns the largest of `count` logits, or infinity where one is not usable.
  float (*largest)(const float* logits, int64_t count);
  // Stores those of `count` logits that are no less than `least`, with their indices, and returns how many there are;
  // there must be room for all.
  int64_t (*collect)(const float* logits, int64_t count, float least, float* collected, uint32_t* indices);
  // Returns the sum of the weights of `count` logits, or stores each of them.
  uint64_t (*sum_weights)(const Weighing& weighing, const float* logits, int64_t count);
  void (*weigh)(const Weighing& weighing, const float* logits, int64_t count, uint64_t* weights);
};

namespace avx2 {
extern const Sweeps kSweeps;
}
namespace avx512 {
extern const Sweeps kSweeps;
}

}  // namespace rung::cpu
