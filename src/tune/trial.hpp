// One candidate run on made-up operands: its time with weights as cold as in the model, and its result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/tensor.hpp"
#include "kernels/cpu/bind.hpp"
#include "tune/candidates.hpp"
#include "tune/trial_time.hpp"

namespace rung {

inline constexpr size_t kMaxCopies = 64;  // of the constant operands, on every device

// Values for operand `i`, at most `most` of its span: random in [-1,1], or [0,1] for squares; 0 where they are no
// floats.
Tensor random_operand(const Problem& problem, size_t i, int64_t most);
// All results of the op, as f32, out of what a call wrote.
std::vector<Tensor> read_results(const Problem& problem, const std::byte* memory);

// Operands of a problem, random (indices 0): made once, shared by all its candidates.
class TrialOperands {
 public:
  explicit TrialOperands(const Problem& problem);
  const Problem& problem() const { return problem_; }
  std::vector<const void*> addresses() const;
  size_t constant_bytes() const;

 private:
  const Problem& problem_;
  std::vector<Tensor> tensors_;
};

class Trial {
 public:
  // Binds the candidate. `working_set_bytes`: all weights of the model; copies of the constant operands are rotated to
  // stand for them, up to twice the last cache.
  Trial(const TrialOperands& operands, const KernelCandidate& candidate, size_t working_set_bytes);
  // One call on the whole team, timed again and again for `seconds`, seven times at least.
  TrialTime time(cpu::Team& team, double seconds);
  // The results of one call: read_results().
  std::vector<Tensor> results(cpu::Team& team);

 private:
  void add_copy();
  void run(cpu::Team& team);
  std::shared_ptr<std::byte> output_;  // of all results
  std::vector<cpu::Bound> copies_;
  size_t next_ = 0;
};

}  // namespace rung
