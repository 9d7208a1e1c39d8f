// Runs one candidate on made-up operands: gives its time with weights as cold as in the model, and its result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/tensor.hpp"
#include "kernels/cpu/bind.hpp"
#include "tune/candidates.hpp"
#include "tune/trial_time.hpp"

namespace rung {

inline constexpr size_t kMaxCopies = 64;  // of the constant operands, on every device

// Returns values for operand `i`, at most `most` of its span: random in [-1,1], or [0,1] for squares; 0 if not float;
// those that draw from all tokens for settings of a sample.
Tensor random_operand(const Problem& problem, size_t i, int64_t most);
// Returns all results of the op, as f32, from the memory that a call wrote.
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
  // Binds the candidate. `working_set_bytes`: all weights of the model; copies of the constant operands are used in
  // rotation to stand for them, up to twice the last-level cache.
  Trial(const TrialOperands& operands, const KernelCandidate& candidate, size_t working_set_bytes);
  // Times calls on the whole team, repeated for `seconds`, at least seven times unless that takes kSlowSeconds.
  TrialTime time(cpu::Team& team, double seconds);
  // Returns the results of one call, as read_results() reads them.
  std::vector<Tensor> results(cpu::Team& team);

 private:
  void add_copy();
  void run(cpu::Team& team);
  std::shared_ptr<std::byte> output_;  // for all results
  std::vector<cpu::Bound> copies_;
  size_t next_ = 0;
};

}  // namespace rung
