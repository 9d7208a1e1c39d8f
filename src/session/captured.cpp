// The captured recorder: a bound launch list over a fixed arena.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>

#include "base/big_block.hpp"
#include "base/signals.hpp"
#include "session/launch.hpp"
#include "session/recorder.hpp"
#include "session/states.hpp"

namespace rung {
namespace {

// All data of a launch, at addresses that do not move.
struct Bound {
  Problem problem;
  std::vector<const void*> inputs;
  std::shared_ptr<void> state;
  std::atomic<Fault> fault{Fault::none};
};

// One phase of a step, which the team runs together.
struct Launch {
  void (*run)(const cpu::Call&);
  cpu::Call call;  // without the part and the thread
};

class Captured : public Recorder {
 public:
  Captured(const Plan& plan, const States& states, cpu::Team& team, std::shared_ptr<std::byte> arena)
      : plan_(plan), states_(states), team_(team), calls_library_(calls_library(plan)), arena_(std::move(arena)) {
    for (const Step& step : plan.steps) bind(step);
  }

  Status start(const RunCopies&, std::optional<gpu::Stream>) override {
    std::optional<SignalsHeld> held;
    if (calls_library_) held.emplace();
    run(0, launches_.size());
    Status status;
    for (size_t i = 0; i < bound_.size(); ++i) {
      if (bound_[i].fault.load(std::memory_order_relaxed) == Fault::none) continue;
      Fault fault = bound_[i].fault.exchange(Fault::none);  // clears all flags: the next run starts clean
      if (status) status = check_fault(fault, plan_.steps[i]);
    }
    return status;
  }

  Status write(uint32_t index, const void* from, size_t bytes) override {
    std::memcpy(buffer(index), from, bytes);
    return {};
  }
  Status read(uint32_t index, void* to, size_t bytes) const override {
    std::memcpy(to, buffer(index), bytes);
    return {};
  }

  Result<std::byte*> memory(uint32_t index, Place) override { return buffer(index); }
  const std::byte* host_buffer(uint32_t index) const override { return buffer(index); }

  Status run_step(size_t index) override {
    run(first_launch_[index], index + 1 < first_launch_.size() ? first_launch_[index + 1] : launches_.size());
    return check_fault(bound_[index].fault.exchange(Fault::none), plan_.steps[index]);
  }

 private:
  void run(size_t begin, size_t end) {
    team_.run(std::span(parts_).subspan(begin, end - begin), [this, begin](size_t section, int part, int thread) {
      const Launch& launch = launches_[begin + section];
      cpu::Call call = launch.call;
      call.part = part, call.thread = thread;
      launch_on_thread(launch.run, call);
    });
  }

  std::byte* buffer(uint32_t index) const {
    if (const gpu::Address state = states_.address(plan_, index)) return std::bit_cast<std::byte*>(state);
    return arena_.get() + plan_.buffers[index].offset;
  }

  const void* address(const PlanOperand& operand) {
    if (operand.storage == Storage::weight) return plan_.weights[operand.index].data.get() + operand.offset;
    return buffer(operand.index) + operand.offset;
  }

  void bind(const Step& step) {
    Bound& bound = bound_.emplace_back();
    bound.problem = problem_of(step, team_.size());
    for (const auto& input : step.inputs) bound.inputs.push_back(address(input));
    const Kernel* kernel = plan_.target->kernel_named(step.choice.kernel);
    bound.state = kernel->state_for(bound.problem, plan_.target->machine, bound.inputs);
    const Split split = kernel->split_for(bound.problem, plan_.target->machine);
    cpu::Call call{bound.problem, bound.inputs.data(), buffer(step.output.index), nullptr, bound.state.get(),
                   &bound.fault,  split.parts};
    if (step.scratch) call.scratch = buffer(*step.scratch);
    first_launch_.push_back(launches_.size());
    for (call.phase = 0; call.phase < split.phases; ++call.phase) {
      launches_.push_back({kernel->run, call});
      parts_.push_back(split.parts);
    }
  }

  const Plan& plan_;
  const States& states_;
  cpu::Team& team_;
  const bool calls_library_;
  std::shared_ptr<std::byte> arena_;
  std::deque<Bound> bound_;           // a deque, so addresses stay
  std::vector<Launch> launches_;      // in order
  std::vector<int> parts_;            // of each launch
  std::vector<size_t> first_launch_;  // of each step
};

}  // namespace

Result<std::unique_ptr<Recorder>> make_captured_recorder(const Plan& plan, const States& states, cpu::Team& team) {
  auto block = allocate_block(plan.arena_bytes + kBufferAlignment);
  if (!block) return no_memory("no memory for an arena of {} bytes", plan.arena_bytes);
  size_t ahead = -std::bit_cast<uintptr_t>(block.get()) % kBufferAlignment;
  std::shared_ptr<std::byte> arena(block, block.get() + ahead);
  return std::unique_ptr<Recorder>(new Captured(plan, states, team, std::move(arena)));
}

}  // namespace rung
