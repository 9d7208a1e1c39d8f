// Times one candidate on a GPU over rotating copies of its constant operands.
// SPDX-License-Identifier: Apache-2.0
#include "tune/gpu_trial.hpp"

#include <algorithm>

#include "device/gpu/current_context.hpp"
#include "device/gpu/timed_graph.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/gpu/kernel.hpp"
#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "tune/trial.hpp"

namespace rung {
namespace {

constexpr size_t kLaunches = 32;         // of one graph at most, or as many as copies, if the device has a clock
constexpr double kGraphMs = 4;           // that these may take, if it is more than one
constexpr int64_t kPattern = 1'000'003;  // elements made on the host; a prime, so that rows differ
constexpr size_t kMinReplays = 3;

// Fills `bytes` at `to` with copies of the pattern.
Status repeat(gpu::Queue& queue, const Tensor& pattern, gpu::Address to, size_t bytes) {
  if (bytes == 0) return {};
  RUNG_CHECK(queue.upload(to, pattern.data(), std::min(pattern.bytes(), bytes)));
  for (size_t done = pattern.bytes(); done < bytes;) {
    size_t next = std::min(done, bytes - done);
    RUNG_CHECK(queue.copy(to + done, to, next));
    done += next;
  }
  return queue.wait();
}

size_t bytes_of(const Operand& operand) { return static_cast<size_t>(operand.span()) * size_of(operand.dtype); }

// Returns how many sets of constants stand for the model's weights, up to three times the cache.
size_t copies_for(const Problem& problem, size_t working_set_bytes, size_t cache_bytes) {
  size_t constant = 0;
  for (const auto& input : problem.inputs) constant += input.constant ? bytes_of(input) : 0;
  if (constant == 0) return 1;
  return std::clamp<size_t>(std::min(working_set_bytes, 3 * cache_bytes) / constant + 1, 1, kMaxCopies);
}

}  // namespace

Result<GpuTrialOperands> GpuTrialOperands::make(const Target& target, const Problem& problem,
                                                size_t working_set_bytes) {
  gpu::Gpu& gpu = *target.gpu;
  GpuTrialOperands made;
  made.target_ = &target, made.problem_ = &problem;
  RUNG_TRY(made.queue_, gpu::Queue::make(gpu));
  made.inputs_.resize(copies_for(problem, working_set_bytes, gpu.info().l2_bytes));
  for (const Operand& operand : problem.inputs) {
    made.patterns_.push_back(random_operand(problem, made.patterns_.size(), kPattern));
    for (size_t copy = 0; copy < made.inputs_.size(); ++copy) {
      if (copy == 0 || operand.constant) {
        RUNG_TRY(made.blocks_.emplace_back(), gpu.allocate(bytes_of(operand)));
        RUNG_CHECK(repeat(*made.queue_, made.patterns_.back(), made.blocks_.back()->address(), bytes_of(operand)));
      }
      made.inputs_[copy].push_back(made.blocks_.back()->address());
    }
  }
  RUNG_TRY(made.output_, gpu.allocate(results_of(problem).back().end()));
  return made;
}

Result<GpuTrial> GpuTrial::make(const GpuTrialOperands& operands, const KernelCandidate& candidate) {
  gpu::Gpu& gpu = *operands.target().gpu;
  const Machine& machine = operands.target().machine;
  const gpu::CurrentContext current(gpu);
  GpuTrial trial;
  trial.operands_ = &operands, trial.kernel_ = candidate.kernel, trial.problem_ = operands.problem();
  trial.problem_.params = candidate.params;
  for (size_t copy = 0; copy < operands.copies(); ++copy) trial.inputs_.push_back(operands.inputs(copy));
  for (size_t i = 0; i < trial.problem_.inputs.size(); ++i) {
    const size_t bytes = trial.kernel_->packed_for(trial.problem_, machine, i);
    if (bytes == 0) continue;
    if (trial.problem_.inputs[i].span() > kPattern)
      return fail("operand {} is packed: got {} elements, wanted at most {}", i, trial.problem_.inputs[i].span(),
                  kPattern);
    auto packed = cpu::pack_operand(*trial.kernel_, trial.problem_, machine, i, operands.pattern(i).data());
    RUNG_TRY(auto block, gpu.allocate(bytes));
    RUNG_CHECK(operands.queue().upload(block->address(), packed.get(), bytes));
    for (auto& inputs : trial.inputs_) inputs[i] = block->address();
    trial.blocks_.push_back(std::move(block));
  }
  RUNG_TRY(auto scratch_block, gpu.allocate(trial.kernel_->scratch_for(trial.problem_, machine)));
  RUNG_TRY(auto fault_block, gpu.allocate(sizeof(Fault)));
  trial.scratch_ = scratch_block->address(), trial.fault_ = fault_block->address();
  trial.blocks_.insert(trial.blocks_.end(), {std::move(scratch_block), std::move(fault_block)});
  trial.state_ = trial.kernel_->state_for(trial.problem_, machine);
  return trial;
}

Status GpuTrial::enqueue(size_t copy) {
  return gpu::enqueue(*kernel_, {problem_, inputs_[copy].data(), operands_->output(), scratch_, state_.get(), fault_,
                                 operands_->queue()});
}

Status GpuTrial::enqueue_round(size_t launches) {
  for (size_t i = 0; i < launches; ++i) RUNG_CHECK(enqueue(i % inputs_.size()));
  return {};
}

Result<size_t> GpuTrial::launches_of_graph() {
  const size_t most = std::max(kLaunches, inputs_.size());
  RUNG_TRY(auto one, gpu::TimedGraph::record(operands_->queue(), [&] { return enqueue(0); }));
  RUNG_CHECK(one->replay());
  const double fit = kGraphMs / std::max(one->ms(), kGraphMs / static_cast<double>(most));
  return std::max<size_t>(static_cast<size_t>(fit), 1);
}

Result<TrialTime> GpuTrial::time(double seconds) {
  const bool counts = operands_->target().machine.gpu.counts_instructions;  // every launch counts the same
  size_t launches = 1;
  if (!counts) {
    RUNG_TRY(launches, launches_of_graph());
  }
  RUNG_TRY(auto graph, gpu::TimedGraph::record(operands_->queue(), [&] { return enqueue_round(launches); }));
  if (!counts) RUNG_CHECK(graph->replay());
  std::vector<double> us;
  const int64_t begin = now_ns();
  const auto is_within = [&](double limit) { return now_ns() < begin + static_cast<int64_t>(limit * 1e9); };
  const auto least = [&] { return is_within(kSlowSeconds) ? kMinReplays : kLeastSlowRuns; };
  while (us.empty() || (!counts && (is_within(seconds) || us.size() < least()))) {
    RUNG_CHECK(graph->replay());
    us.push_back(graph->ms() * 1e3 / static_cast<double>(launches));
  }
  return TrialTime{.us = median(us), .ci95 = median_interval(us)};
}

Result<std::vector<Tensor>> GpuTrial::results() {
  gpu::Queue& queue = operands_->queue();
  const gpu::CurrentContext current(queue.gpu());
  std::vector<std::byte> memory(results_of(problem_).back().end());
  RUNG_CHECK(queue.fill(operands_->output(), 0xcb, memory.size()));
  RUNG_CHECK(enqueue(0));
  RUNG_CHECK(queue.download(memory.data(), operands_->output(), memory.size()));
  return read_results(problem_, memory.data());
}

}  // namespace rung
