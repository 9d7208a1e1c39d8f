// Runs one candidate on made-up operands in device memory: gives its time with weights as cold as in the model, and its
// result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/queue.hpp"
#include "ir/tensor.hpp"
#include "tune/candidates.hpp"
#include "tune/trial_time.hpp"

namespace rung {

// Operands of a problem on a device, random in [-1,1] (indices 0): made once, shared by all its candidates. There are
// as many copies of constants as it takes to push each other out of the cache.
class GpuTrialOperands {
 public:
  // Errors: not enough device memory, naming the amounts.
  static Result<GpuTrialOperands> make(const Target& target, const Problem& problem, size_t working_set_bytes);
  const Target& target() const { return *target_; }
  const Problem& problem() const { return *problem_; }
  size_t copies() const { return inputs_.size(); }
  const std::vector<gpu::Address>& inputs(size_t copy) const { return inputs_[copy]; }
  // Returns the first elements of operand i as the host made them; the device repeats them.
  const Tensor& pattern(size_t i) const { return patterns_[i]; }
  gpu::Address output() const { return output_->address(); }
  gpu::Queue& queue() const { return *queue_; }

 private:
  const Target* target_ = nullptr;
  const Problem* problem_ = nullptr;
  std::unique_ptr<gpu::Queue> queue_;  // its candidates run in it
  std::vector<Tensor> patterns_;
  std::vector<std::shared_ptr<gpu::Block>> blocks_;
  std::vector<std::vector<gpu::Address>> inputs_;  // by copy, then operand
  std::shared_ptr<gpu::Block> output_;
};

class GpuTrial {
 public:
  // Binds the candidate. Errors: the row cannot run it (a library has no such algorithm), no memory.
  static Result<GpuTrial> make(const GpuTrialOperands& operands, const KernelCandidate& candidate);
  // Times launches in one graph, which is replayed for `seconds`, at least three times unless that takes kSlowSeconds.
  // The slower a launch, the fewer are in the graph: they hide the time between two, of which a slow one has little.
  Result<TrialTime> time(double seconds);
  // Returns the results of one launch, as read_results() reads them.
  Result<std::vector<Tensor>> results();

 private:
  Status enqueue(size_t copy);
  Status enqueue_round(size_t launches);
  Result<size_t> launches_of_graph();
  const GpuTrialOperands* operands_ = nullptr;
  const Kernel* kernel_ = nullptr;
  Problem problem_;
  std::vector<std::vector<gpu::Address>> inputs_;
  std::vector<std::shared_ptr<gpu::Block>> blocks_;  // packed operands, scratch, the fault flag
  gpu::Address scratch_ = 0, fault_ = 0;
  std::shared_ptr<void> state_;
};

}  // namespace rung
