// A session: a plan bound to a team of threads or a GPU, and memory bound to its inputs and outputs; ready to run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "plan/plan.hpp"
#include "session/recorder.hpp"
#include "session/states.hpp"

namespace rung {

struct SessionOptions {
  bool stepwise = false;  // ops run one by one, so that a fault of the device names its op; never as a graph
  std::shared_ptr<States> states = {};  // of a set that the plan is one of; null: the plan's own, made with the session
};

// Used by one thread at a time, whichever it is: a second one is refused (wrong usage). Several sessions, of one plan
// too, by several threads at once, if each has a team of its own. In a child of the process that opened it, all of it
// is refused but its end, which then gives nothing back. Its end waits for what is in flight.
class Session {
 public:
  // The plan must have been built for team.size() threads, or for a GPU: then the team may be null. Errors: another
  // thread count, no memory, a GPU that was opened before this process was forked.
  static Result<Session> create(std::shared_ptr<const Plan> plan, std::shared_ptr<cpu::Team> team,
                                SessionOptions options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Binds an input or output, by its index in the plan, to row-major memory of the session's own, and tells where that
  // is: the same at every call, valid as long as the session, at a multiple of kBufferAlignment. An input's begins as
  // its default, or zeros, whenever it becomes bound; every run reads what is written there. An output's holds the
  // result of the last run. Place::host is pinned where the device is a GPU; Place::device is an address of that, which
  // the launches read and write in place: where an input was bound or set before, it holds what the last run read.
  // Errors: no such index (wrong usage), no memory.
  Result<std::byte*> own_input(size_t index, Place place);
  Result<std::byte*> own_output(size_t index, Place place);
  // Binds them to row-major memory of the caller's, of the port's type: every run copies from it or to it, until
  // another is bound. What is Place::pinned a device copies by itself, as its own: an input must stay as it is until
  // the run is over (by run_async, until the stream has passed it), and an output is written even by a run whose values
  // are refused; only what it costs depends on whether it is pinned. Errors: no such index, no memory given (wrong
  // usage).
  Status bind_input(size_t index, Place place, const void* from);
  Status bind_output(size_t index, Place place, void* to);
  Status unbind_input(size_t index);   // its default again; without one it is missing
  Status unbind_output(size_t index);  // it is not copied

  // Sets every input: those given (checked: known name, type, range of integers, bools of 0 and 1, floats without NaN
  // or infinity but -inf in a mask, the frozen value of a frozen input), the others by their defaults. They go into an
  // input's own memory if that is bound, and take the place of the caller's. On an error nothing has changed.
  Status set_inputs(const NamedTensors& given);
  // One inference, complete on return, with one wait for a GPU at its end. It finds the states as the run before left
  // them; a run that fails leaves those that it writes without a value. Values in host memory are checked as those of
  // set_inputs are, which are not again; on a GPU while that runs. Errors: an input is missing or refused, by name; a
  // state that is read holds no value; an op's, by name; the device failed.
  Status run();
  // The same in a stream of the caller's: returns when it is enqueued and the host's values are checked. Runs are in
  // order, in whichever streams. The caller's host memory of inputs has been read then, but for pinned memory; that of
  // outputs is filled by wait(), pinned memory by the stream, and a run that finds such a debt pays it first. Errors:
  // the processor has no streams (wrong usage); those of run() that are known by then.
  Status run_async(gpu::Stream stream);
  // Until all that was enqueued is done. Errors: those of the runs by run_async() since the last wait.
  Status wait();
  // Copies of the last run's outputs, by name, in the plan's order; waits first.
  Result<std::vector<std::pair<std::string, Tensor>>> outputs() const;
  // set_inputs, run, outputs.
  Result<std::vector<std::pair<std::string, Tensor>>> infer(const NamedTensors& given);

  // States hold their initial values again: the next run is the first of a sequence. It waits first. Errors: the device
  // failed.
  Status reset_states();
  // A copy of what a state holds; waits first. Errors: no such state, or one that holds nothing (mismatch).
  Result<Tensor> state(std::string_view name);

  const Plan& plan() const;
  Recorder& recorder();
  cpu::Team& team();

 private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// A frozen input has the value that the plan was built for, and no other.
Status check_frozen_input(const FrozenInput& input, const Tensor& value);

}  // namespace rung
