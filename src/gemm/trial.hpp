// One candidate run on made-up operands: its time with weights as cold as in the model, and its result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "gemm/candidates.hpp"
#include "ir/tensor.hpp"
#include "kernels/cpu/bind.hpp"

namespace rung {

struct TrialOptions {
  size_t working_set_bytes = 0;  // all weights of the model: copies of the operand are rotated to stand for them
  double seconds = 0.01;         // of timed runs
};

class Trial {
 public:
  // Makes operands (random, in [-1,1]; indices 0) and binds the candidate. The problem's params are the candidate's.
  Trial(const cpu::Problem& problem, const KernelCandidate& candidate, size_t working_set_bytes);
  // Median microseconds of one call on the whole team.
  double median_us(cpu::Team& team, double seconds);
  // The result of one call, as f32.
  Tensor result(cpu::Team& team);

 private:
  void run(cpu::Team& team);
  std::vector<Tensor> operands_;
  Tensor output_;
  std::vector<cpu::Bound> copies_;
  size_t next_ = 0;
};

}  // namespace rung
