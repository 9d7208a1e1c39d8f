// Brings a plan's launches to the device. Eager and captured recorders run the same plan, so that the plan measured is
// the plan verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/cpu/team.hpp"
#include "device/gpu/runtime.hpp"
#include "kernels/cpu/kernel.hpp"
#include "plan/plan.hpp"
#include "session/run_copies.hpp"

namespace rung {

class States;

class Recorder {
 public:
  virtual ~Recorder() = default;
  // Runs one inference: copies in, launches, copies out. On a CPU it is complete on return. On a GPU it is enqueued, in
  // the stream or, without one, in the recorder's own queue, which times it: then finish() must be the next call. Runs
  // are in order, in whichever streams. Errors name the op where they can (an index out of range); work enqueued before
  // an error stays so until finish().
  virtual Status start(const RunCopies& copies, std::optional<gpu::Stream> stream) = 0;
  // Waits until no run is in flight. Errors: those of the runs waited for.
  virtual Status finish() { return {}; }
  virtual bool in_flight() const { return false; }
  // Puts a run's launches, without its copies, into a stream of the device, which may be recording a graph; when they
  // have run, check_faults() tells what they found. Errors: a processor has no streams (wrong usage).
  virtual Status enqueue_launches(gpu::Stream /*stream*/) {
    return wrong_usage("the processor has no streams");
  }
  virtual Status check_faults() { return {}; }
  // Waits until the host memory that runs in flight copy from may be written again.
  virtual Status finish_copies_in() { return {}; }
  // Sets or copies out the dense contents of an input's or output's buffer, as many `bytes` as the buffer has. Waits
  // for runs in flight; complete on return. Errors: the device failed.
  virtual Status write(uint32_t buffer, const void* from, size_t bytes) = 0;
  virtual Status read(uint32_t buffer, void* to, size_t bytes) const = 0;
  // Returns memory of an input or output: always the same while the recorder lives, aligned to kBufferAlignment, zeros
  // at first. On the device it is the buffer itself, at a device address. On the host it is pinned memory, made when
  // first requested, or the buffer if the CPU is the device. Errors: no such memory.
  virtual Result<std::byte*> memory(uint32_t buffer, Place place) = 0;
  // Returns the present place of a buffer in host memory; null: it has none.
  virtual const std::byte* host_buffer(uint32_t) const { return nullptr; }
  // Notes on what was examined, warmed and recorded when this recorder was made; empty if it records nothing.
  virtual std::vector<std::string> capture_notes() const { return {}; }
  // Runs one launch of the last run again, alone, for profiles. Errors: those of a run.
  virtual Status run_step(size_t index) = 0;
  // Returns device microseconds of each launch where run_step() cannot time them: replays launches of one problem
  // together, so that each finds its weights as cold as the others leave them. Empty: time run_step().
  virtual Result<std::vector<double>> step_us() { return std::vector<double>{}; }
  // Returns device microseconds of these launches replayed in order as one graph; nullopt where run_step() times them.
  virtual Result<std::optional<double>> together_us(std::span<const size_t> /*steps*/) {
    return std::optional<double>();
  }
  // Returns device time of the last run, by the device's clock; nullopt where the host's clock is the device's.
  virtual std::optional<double> device_ms() const { return std::nullopt; }
};

// All recorders read and write the states in place; their addresses stay the same as long as the recorder lives.

// Dispatches op by op as an eager framework does: inside the run it looks up each kernel, prepares it, allocates its
// result and frees operands after their last use.
std::unique_ptr<Recorder> make_eager_recorder(const Plan& plan, const States& states, cpu::Team& team);
// Binds every launch to fixed addresses of one arena beforehand. A run allocates nothing and decides nothing: the team
// processes the list together, one launch after another. Errors: no memory for the arena, naming the amount.
Result<std::unique_ptr<Recorder>> make_captured_recorder(const Plan& plan, const States& states, cpu::Team& team);

// Makes either recorder for a GPU plan. Both hold its weights and one arena on the device; the captured one launches a
// graph that was recorded once. Errors: not enough device memory, naming the amounts; a kernel or a library product
// that cannot be prepared, naming the op. Stepwise waits for each launch before the next, whatever the recipe says:
// slow, but then a device fault (ErrorKind::device_fault) names its op.
// Inputs and outputs in `ports` have their memory there, by buffer.
Result<std::unique_ptr<Recorder>> make_gpu_recorder(const Plan& plan, const States& states, bool stepwise,
                                                    std::map<uint32_t, gpu::Address> ports = {});

// Returns the error for a fault flag that a kernel raised.
Status check_fault(Fault fault, const Step& step);

}  // namespace rung
