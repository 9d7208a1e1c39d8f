// The eager recorder: every decision and allocation happens inside the run, op by op; what kernels prepare is kept.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/signals.hpp"
#include "kernels/cpu/bind.hpp"
#include "session/launch.hpp"
#include "session/recorder.hpp"
#include "session/states.hpp"

namespace rung {
namespace {

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};
using Block = std::unique_ptr<std::byte, Free>;

// Allocates exactly `bytes`, so that a sanitizer sees a kernel that accesses more.
Block allocate(uint64_t bytes) {
  void* data = nullptr;
  if (posix_memalign(&data, kBufferAlignment, bytes) != 0) throw std::bad_alloc();
  return Block(static_cast<std::byte*>(data));
}

class Eager : public Recorder {
 public:
  Eager(const Plan& plan, const States& states, cpu::Team& team)
      : plan_(plan),
        team_(team),
        calls_library_(calls_library(plan)),
        blocks_(plan.buffers.size()),
        prepared_(plan.steps.size()),
        freed_after_(plan.steps.size()) {
    std::vector<bool> fixed = state_buffers(plan);
    for (const PlanState& state : plan.states)
      states_[state.buffer] = std::bit_cast<std::byte*>(states.address(plan, state.buffer));
    for (const auto& input : plan.inputs) fix(input.buffer, fixed);
    for (const auto& output : plan.outputs) fix(output.buffer, fixed);
    for (uint32_t b = 0; b < plan.buffers.size(); ++b)
      if (!fixed[b] && plan.buffers[b].last_step < plan.steps.size())
        freed_after_[plan.buffers[b].last_step].push_back(b);
  }

  Status start(const RunCopies&, std::optional<gpu::Stream>) override {
    std::optional<SignalsHeld> held;
    if (calls_library_) held.emplace();
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      RUNG_CHECK(launch(i));
      for (uint32_t buffer : freed_after_[i]) blocks_[buffer].reset();
    }
    return {};
  }

  Status write(uint32_t index, const void* from, size_t bytes) override {
    std::memcpy(blocks_[index].get(), from, bytes);
    return {};
  }
  Status read(uint32_t index, void* to, size_t bytes) const override {
    std::memcpy(to, blocks_[index].get(), bytes);
    return {};
  }

  Result<std::byte*> memory(uint32_t index, Place) override { return blocks_[index].get(); }
  const std::byte* host_buffer(uint32_t index) const override { return blocks_[index].get(); }

  Status run_step(size_t index) override { return launch(index); }

 private:
  void fix(uint32_t buffer, std::vector<bool>& fixed) {
    blocks_[buffer] = allocate(plan_.buffers[buffer].bytes);
    std::memset(blocks_[buffer].get(), 0, plan_.buffers[buffer].bytes);
    fixed[buffer] = true;
  }

  std::byte* block(uint32_t index) {
    if (const auto state = states_.find(index); state != states_.end()) return state->second;
    if (!blocks_[index]) blocks_[index] = allocate(plan_.buffers[index].bytes);
    return blocks_[index].get();
  }

  Status launch(size_t index) {
    const Step& step = plan_.steps[index];
    Problem problem = problem_of(step, team_.size());
    std::vector<const void*> inputs;
    for (const auto& input : step.inputs)
      inputs.push_back(input.storage == Storage::weight ? plan_.weights[input.index].data.get() + input.offset
                                                        : block(input.index) + input.offset);
    const Kernel* kernel = plan_.target->kernel_named(step.choice.kernel);
    std::shared_ptr<void>& state = prepared_[index];
    if (!state) state = kernel->state_for(problem, plan_.target->machine, inputs);
    void* output = block(step.output.index);
    void* scratch = step.scratch ? block(*step.scratch) : nullptr;
    std::atomic<Fault> fault{Fault::none};
    cpu::run_parts(team_, kernel->split_for(problem, plan_.target->machine),
                   {problem, inputs.data(), output, scratch, state.get(), &fault},
                   [&](const cpu::Call& call) { launch_on_thread(kernel->run, call); });
    return check_fault(fault, step);
  }

  const Plan& plan_;
  cpu::Team& team_;
  const bool calls_library_;
  std::vector<Block> blocks_;
  std::vector<std::shared_ptr<void>> prepared_;     // by step: frameworks, too, have code and primitives ready
  std::map<uint32_t, std::byte*> states_;           // by buffer
  std::vector<std::vector<uint32_t>> freed_after_;  // by step
};

}  // namespace

std::unique_ptr<Recorder> make_eager_recorder(const Plan& plan, const States& states, cpu::Team& team) {
  return std::make_unique<Eager>(plan, states, team);
}

bool calls_library(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    return plan.target->kernel_named(step.choice.kernel)->role == Role::library;
  });
}

Status check_fault(Fault fault, const Step& step) {
  const auto failed = [&](std::string_view why, ErrorKind kind = ErrorKind::mismatch) {
    return tl::unexpected<Error>(Error{fmt::format("{} ({}): {}", step.label, name_of(step.op), why), kind});
  };
  switch (fault) {
    case Fault::none:
      return {};
    case Fault::index_out_of_range:
      return failed("an index is out of range");
    case Fault::integer_divided_by_zero:
      return failed("an integer is divided by zero");
    case Fault::no_token_to_draw:
      return failed("logits with NaN or +inf, no token that is not banned, or a setting out of its range");
    case Fault::kernel_threw:
      return failed(step.choice.kernel + " could not run: no memory, or its library failed", ErrorKind::memory);
  }
  return failed(fmt::format("{} left the unknown fault {}", step.choice.kernel, static_cast<uint32_t>(fault)),
                ErrorKind::failed);
}

}  // namespace rung
