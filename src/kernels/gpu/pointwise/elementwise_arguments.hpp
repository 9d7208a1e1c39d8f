// The arguments of the element-wise interpreter, shared by host and device: operands, and a short program over slots.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/fault.hpp"
#include "kernels/elementwise_code.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

constexpr int kMaxElementwiseInputs = 8, kMaxElementwiseSteps = 48, kMaxElementwiseLiterals = 48;

// A variant of the interpreter.
struct ElementwiseConfig {
  int run;     // neighbouring elements of a thread: 1 or kElementwiseRun
  int inputs;  // the most operands
  bool operator==(const ElementwiseConfig&) const = default;
};
constexpr int kElementwiseRun = 8;
constexpr uint32_t kElementwiseThreads = 128;  // of a block, at most

// A step reads a slot, the value of the step before it (of operand 0 in the first step), or (from kFirstLiteral on) a
// literal. A value that a step writes to kNowhere reaches only the next step.
constexpr uint8_t kFirstLiteral = 128, kPrevious = 255, kNowhere = 255;

struct ElementwiseStep {
  Code code;
  uint8_t from[3];
  uint8_t to;
};

// Positions of the nest are single elements, or runs of eight along the inner axis. At first, slot i holds operand i.
struct ElementwiseArguments {
  uint64_t input[kMaxElementwiseInputs];
  uint64_t output;  // dense
  uint64_t fault;
  Nest<kMaxElementwiseInputs> nest;
  int64_t inner_stride[kMaxElementwiseInputs];
  DType type[kMaxElementwiseInputs], out;
  int32_t inputs, steps;
  float literal[kMaxElementwiseLiterals];
  ElementwiseStep step[kMaxElementwiseSteps];
};

}  // namespace rung::gpu
