// A session: a plan bound to a team of threads or a GPU, with memory bound to its inputs and outputs; ready to run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "plan/plan.hpp"
#include "session/recorder.hpp"
#include "session/states.hpp"

namespace rung {

struct SessionOptions {
  bool stepwise = false;  // runs ops one by one, so that a device fault names its op; never uses a graph
  // The states of a set that contains the plan; null: the plan's own, made with the session. A session that captures
  // its run may write them while it is made.
  std::shared_ptr<States> states = {};
  // Memory on the device for inputs and outputs, by name, that another session of the same GPU owns and that outlives
  // this one: what one plan gives, the other takes. A processor's session takes none.
  std::map<std::string, std::byte*> ports = {};
};

// Any thread may use it, one at a time: a second one is refused (wrong usage). Several threads may use several sessions
// at once, of one plan too, if each session has its own team. In a forked child of the process that opened it, every
// call is refused except the destructor, which then frees nothing. The destructor waits for runs in flight.
class Session {
 public:
  // The plan must have been built for team.size() threads, or for a GPU: then the team may be null. Errors: another
  // thread count, no memory, a GPU that was opened before this process was forked.
  static Result<Session> create(std::shared_ptr<const Plan> plan, std::shared_ptr<cpu::Team> team,
                                SessionOptions options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Binds an input or output, by its index in the plan, to row-major memory of the session's own and returns its
  // address: the same at every call, valid as long as the session, aligned to kBufferAlignment. An input's memory holds
  // its default, or zeros, whenever it becomes bound; every run reads it. An output's memory holds the result of the
  // last run. Place::host is pinned if the device is a GPU; Place::device is an address on the GPU, which launches read
  // and write in place: if an input was bound or set before, it holds what the last run read. Errors: no such index
  // (wrong usage), no memory.
  Result<std::byte*> own_input(size_t index, Place place);
  Result<std::byte*> own_output(size_t index, Place place);
  // Binds an input or output to row-major memory of the caller's, of the port's type: every run copies from it or to
  // it, until another is bound. The device itself copies Place::pinned memory: an input must stay unchanged until the
  // run is over (for run_async, until the stream has passed it), and an output is written even by a run whose values
  // are refused; memory that is not in fact pinned only costs time. Errors: no such index, no memory given (wrong
  // usage).
  Status bind_input(size_t index, Place place, const void* from);
  Status bind_output(size_t index, Place place, void* to);
  Status unbind_input(size_t index);   // restores its default; without one it is missing
  Status unbind_output(size_t index);  // no longer copied

  // Sets every input: given values (checked: known name, type, range of integers, bools of 0 and 1, floats without NaN
  // or infinity except -inf in a mask, the frozen value of a frozen input), else its default. Values go into an input's
  // own memory if bound, and replace the caller's memory. A failed check changes nothing.
  Status set_inputs(const NamedTensors& given);
  // Runs one inference, complete on return, with one wait for a GPU at its end. It finds the states as the run before
  // left them; a failed run leaves the states it writes without a value. It checks values in host memory as
  // set_inputs() does, whose values are not checked again; on a GPU, while the run proceeds. Errors: an input is
  // missing or refused, by name; a state that is read holds no value; an op's, by name; the device failed.
  Status run();
  // Does the same in the caller's stream: returns when the run is enqueued and the host's values are checked. Runs are
  // in order, in whichever streams. By then the caller's host memory of inputs has been read, except pinned memory;
  // wait() fills host memory of outputs, the stream fills pinned memory, and a run that finds outputs still owed fills
  // them first. Errors: a CPU has no streams (wrong usage); those of run() that are known by then.
  Status run_async(gpu::Stream stream);
  // Waits until all enqueued runs are done. Errors: those of runs by run_async() since the last wait.
  Status wait();
  // Returns copies of the last run's outputs, by name, in the plan's order; waits first.
  Result<std::vector<std::pair<std::string, Tensor>>> outputs() const;
  // Calls set_inputs, run, outputs.
  Result<std::vector<std::pair<std::string, Tensor>>> infer(const NamedTensors& given);

  // Resets states to their initial values: the next run is the first of a sequence. Waits first. Errors: the device
  // failed.
  Status reset_states();
  // Gives a state another value; waits first. Errors: no such state, another type (mismatch); the device failed.
  Status set_state(std::string_view name, const Tensor& value);
  // Returns a copy of a state's value; waits first. Errors: no such state, or one that holds nothing (mismatch).
  Result<Tensor> state(std::string_view name);

  const Plan& plan() const;
  Recorder& recorder();
  cpu::Team& team();

 private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Checks that a frozen input has the value that the plan was built for.
Status check_frozen_input(const FrozenInput& input, const Tensor& value);

}  // namespace rung
