// How a plan's launches reach the device. Eager and captured are two recorders of the same plan: what is measured is
// what was verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once
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
  // One inference: copies in, launches, copies out. A processor's is done on return. A GPU's is enqueued, in the stream
  // or, without one, in a queue of the recorder's own, where its time is taken: finish() next then. Runs are in order,
  // in whichever streams. Errors name the op where they can (an index out of range); what was enqueued before one stays
  // so, until finish().
  virtual Status start(const RunCopies& copies, std::optional<gpu::Stream> stream) = 0;
  // Until nothing is in flight. Errors: those of the runs that were.
  virtual Status finish() { return {}; }
  virtual bool in_flight() const { return false; }
  // Until the host memory that runs in flight copy from may be written again.
  virtual Status finish_copies_in() { return {}; }
  // Sets or copies out the dense contents of an input's or output's buffer, `bytes` as the buffer has: after what is in
  // flight, complete on return. Errors: the device failed.
  virtual Status write(uint32_t buffer, const void* from, size_t bytes) = 0;
  virtual Status read(uint32_t buffer, void* to, size_t bytes) const = 0;
  // Memory of an input's or output's, as long as the recorder lives and always the same: at a multiple of
  // kBufferAlignment, zeros at first. On the device: the buffer itself, by an address of the device. On the host:
  // pinned memory, made when first asked for, or the buffer where the processor is the device. Errors: no such memory.
  virtual Result<std::byte*> memory(uint32_t buffer, Place place) = 0;
  // Where a buffer lies in host memory now; null where it does not.
  virtual const std::byte* host_buffer(uint32_t) const { return nullptr; }
  // Notes on what was examined, warmed and recorded when this recorder was made; empty if it records nothing.
  virtual std::vector<std::string> capture_notes() const { return {}; }
  // One launch of the last run again, alone: for profiles. Errors: those of a run.
  virtual Status run_step(size_t index) = 0;
  // Device microseconds of each launch, where run_step() cannot time them: launches of one problem replayed together,
  // so that each finds its weights as cold as the others leave them. Empty: time run_step().
  virtual Result<std::vector<double>> step_us() { return std::vector<double>{}; }
  // Device microseconds of these launches replayed in order as one graph; nullopt where run_step() times them.
  virtual Result<std::optional<double>> together_us(std::span<const size_t> /*steps*/) {
    return std::optional<double>();
  }
  // Device time of the last run, by the device's own clock; nullopt where the host's clock is the device's.
  virtual std::optional<double> device_ms() const { return std::nullopt; }
};

// All recorders read and write the states where they lie, which is the same as long as the recorder lives.

// Dispatches op by op as an eager framework does: looks the kernel up, prepares it, allocates its result and frees
// operands after their last use, all inside the run.
std::unique_ptr<Recorder> make_eager_recorder(const Plan& plan, const States& states, cpu::Team& team);
// Binds every launch to fixed addresses of one arena beforehand. A run allocates nothing and decides nothing: the team
// works the list off together, one launch after another. Errors: no memory for the arena, naming the amount.
Result<std::unique_ptr<Recorder>> make_captured_recorder(const Plan& plan, const States& states, cpu::Team& team);

// The two for a plan of a GPU. Both hold its weights and one arena on the device; captured launches a graph that was
// recorded once. Errors: not enough device memory, naming the amounts; a kernel or a library product that cannot be
// made ready, naming the op. Stepwise waits for each launch before the next, whatever the recipe says: slow, but a
// fault of the device (ErrorKind::device_fault) then names the op that it happened in.
Result<std::unique_ptr<Recorder>> make_gpu_recorder(const Plan& plan, const States& states, bool stepwise);

// The error for a fault flag that a kernel raised.
Status check_fault(Fault fault, const Step& step);

}  // namespace rung
