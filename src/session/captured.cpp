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

namespace rung {
namespace {

// Everything a launch needs, at addresses that do not move.
struct Bound {
  Problem problem;
  std::vector<const void*> inputs;
  std::shared_ptr<void> state;
  std::atomic<Fault> fault{Fault::none};
};

struct Launch {
  void (*run)(const cpu::Call&);
  cpu::Call call;
};

class Captured : public Recorder {
 public:
  Captured(const Plan& plan, cpu::Team& team, std::shared_ptr<std::byte> arena)
      : plan_(plan),
        team_(team),
        calls_library_(calls_library(plan)),
        arena_(std::move(arena)),
        launches_(static_cast<size_t>(team.size())) {
    for (const Step& step : plan.steps) bind(step);
  }

  Status start(const RunCopies&, std::optional<gpu::Stream>) override {
    std::optional<SignalsHeld> held;
    if (calls_library_) held.emplace();
    team_.run([this](int thread) {
      for (const Launch& launch : launches_[static_cast<size_t>(thread)]) {
        launch_on_thread(launch.run, launch.call);
        team_.barrier();
      }
    });
    Status status;
    for (size_t i = 0; i < bound_.size(); ++i) {
      if (bound_[i].fault.load(std::memory_order_relaxed) == Fault::none) continue;
      Fault fault = bound_[i].fault.exchange(Fault::none);  // all are cleared: the next run starts clean
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
    team_.run([this, index](int thread) {
      const Launch& launch = launches_[static_cast<size_t>(thread)][index];
      launch_on_thread(launch.run, launch.call);
    });
    return check_fault(bound_[index].fault.exchange(Fault::none), plan_.steps[index]);
  }

 private:
  std::byte* buffer(uint32_t index) const { return arena_.get() + plan_.buffers[index].offset; }

  const void* address(const PlanOperand& operand) {
    if (operand.region == Region::weight) return plan_.weights[operand.index].data.get() + operand.offset;
    return buffer(operand.index) + operand.offset;
  }

  void bind(const Step& step) {
    Bound& bound = bound_.emplace_back();
    bound.problem = problem_of(step, team_.size());
    for (const auto& input : step.inputs) bound.inputs.push_back(address(input));
    const Kernel* kernel = plan_.target->kernel_named(step.choice.kernel);
    bound.state = kernel->state_for(bound.problem, plan_.target->machine);
    for (int thread = 0; thread < team_.size(); ++thread)
      launches_[static_cast<size_t>(thread)].push_back(
          {kernel->run,
           {bound.problem, bound.inputs.data(), buffer(step.output.index),
            step.scratch ? buffer(*step.scratch) : nullptr, bound.state.get(), thread, &team_, &bound.fault}});
  }

  const Plan& plan_;
  cpu::Team& team_;
  const bool calls_library_;
  std::shared_ptr<std::byte> arena_;
  std::deque<Bound> bound_;                    // addresses stay
  std::vector<std::vector<Launch>> launches_;  // by thread
};

}  // namespace

Result<std::unique_ptr<Recorder>> make_captured_recorder(const Plan& plan, cpu::Team& team) {
  auto block = allocate_block(plan.arena_bytes + kBufferAlignment);
  if (!block) return no_memory("no memory for an arena of {} bytes", plan.arena_bytes);
  size_t ahead = -std::bit_cast<uintptr_t>(block.get()) % kBufferAlignment;
  std::shared_ptr<std::byte> arena(block, block.get() + ahead);
  return std::unique_ptr<Recorder>(new Captured(plan, team, std::move(arena)));
}

}  // namespace rung
