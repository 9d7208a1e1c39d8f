// How a plan's launches reach the device. Eager and captured are two recorders of the same plan: what is measured is
// what was verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "device/cpu/team.hpp"
#include "kernels/cpu/kernel.hpp"
#include "plan/plan.hpp"

namespace rung {

class Recorder {
 public:
  virtual ~Recorder() = default;
  // One inference: reads the input buffers, fills the output buffers. Errors name the op (an index out of range).
  virtual Status run() = 0;
  // The dense contents of an input's or output's buffer; stays the same from run to run.
  virtual std::byte* buffer(uint32_t index) = 0;
  // One launch of the last run again, alone, on the whole team: for profiles.
  virtual void run_step(size_t index) = 0;
};

// Dispatches op by op as an eager framework does: looks the kernel up, prepares it, allocates its result and frees
// operands after their last use, all inside the run.
std::unique_ptr<Recorder> make_eager_recorder(const Plan& plan, cpu::Team& team);
// Binds every launch to fixed addresses of one arena beforehand. A run allocates nothing and decides nothing: the team
// walks the list together, with a barrier between launches. Errors: no memory for the arena, naming the amount.
Result<std::unique_ptr<Recorder>> make_captured_recorder(const Plan& plan, cpu::Team& team);

// The error for a fault flag that a kernel raised.
Status check_fault(uint32_t fault, const Step& step);

}  // namespace rung
