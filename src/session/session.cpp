// Sessions: entrance, and a run from its copies to its errors.
// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <cstring>

#include "device/gpu/gpu.hpp"
#include "ir/bool_bytes.hpp"
#include "plan/named.hpp"
#include "session/entrance.hpp"
#include "session/input_values.hpp"
#include "session/ports.hpp"

namespace rung {
namespace {

using NamedOutputs = std::vector<std::pair<std::string, Tensor>>;

Result<std::map<uint32_t, gpu::Address>> buffers_of(const Plan& plan, const std::map<std::string, std::byte*>& ports) {
  std::map<uint32_t, gpu::Address> by_buffer;
  for (const auto& [name, memory] : ports) {
    const auto* input = find_named(plan.inputs, name);
    const auto* output = find_named(plan.outputs, name);
    if (!input && !output) return mismatch("there is no input or output '{}'", name);
    by_buffer.emplace(input ? input->buffer : output->buffer, gpu::address_of(memory));
  }
  return by_buffer;
}

Result<std::unique_ptr<Recorder>> make_recorder(const Plan& plan, cpu::Team* team, const SessionOptions& options) {
  const States& states = *options.states;
  if (plan.target->gpu) {
    RUNG_CHECK(plan.target->gpu->check_process());
    RUNG_TRY(auto ports, buffers_of(plan, options.ports));
    return make_gpu_recorder(plan, states, options.stepwise, std::move(ports));
  }
  if (!options.ports.empty()) return wrong_usage("a processor's session has its own memory alone");
  if (plan.recipe.threads != team->size())
    return mismatch("the plan was built for {} threads, got a team of {}", plan.recipe.threads, team->size());
  if (plan.recipe.capture && !options.stepwise) return make_captured_recorder(plan, states, *team);
  return make_eager_recorder(plan, states, *team);
}

}  // namespace

// Has a fixed address, because the ports and threads inside refer to it.
struct Session::Parts {
  Parts(std::shared_ptr<const Plan> of, std::shared_ptr<cpu::Team> by, std::shared_ptr<States> and_states,
        std::unique_ptr<Recorder> with)
      : plan(std::move(of)),
        team(std::move(by)),
        states(std::move(and_states)),
        recorder(std::move(with)),
        ports(*plan, *recorder) {}
  // A forked child leaks the recorder: what it would wait for and free belongs to the parent, and neither the device
  // nor library threads work in the child.
  ~Parts() {
    if (entrance.forked()) (void)recorder.release();
  }

  bool gpu() const { return plan->target->gpu != nullptr; }
  Status check_given(const NamedTensors& given);
  Status check_value(size_t index, const Tensor& value);
  Status set_inputs(const NamedTensors& given);
  Status run();
  Status run_async(gpu::Stream stream);
  void settle();
  Status wait();
  Result<NamedOutputs> outputs();

  std::shared_ptr<const Plan> plan;
  std::shared_ptr<cpu::Team> team;
  std::shared_ptr<States> states;
  std::unique_ptr<Recorder> recorder;
  Ports ports;
  Entrance entrance;
  Status untold;  // first error of completed runs, for wait()
};

Status Session::Parts::check_value(size_t index, const Tensor& value) {
  const PlanInput& input = plan->inputs[index];
  if (!(value.type() == input.type))
    return mismatch("input '{}': got {}, wanted {}", input.name, value.type(), input.type);
  return check_input_values(input, value.data(), [this, index] { return ports.tolerated(index); });
}

Status Session::Parts::check_given(const NamedTensors& given) {
  for (const auto& [name, value] : given) {
    if (const auto* frozen = find_named(plan->frozen, name)) {
      RUNG_CHECK(check_frozen_input(*frozen, value));
    } else if (const auto* input = find_named(plan->inputs, name)) {
      RUNG_CHECK(check_value(static_cast<size_t>(input - plan->inputs.data()), value));
    } else {
      std::string names;
      for (const auto& known : plan->inputs) names += (names.empty() ? "" : ", ") + known.name;
      return mismatch("there is no input '{}'; the inputs are: {}", name, names);
    }
  }
  for (const auto& input : plan->inputs)
    if (!input.value && !given.contains(input.name))
      return mismatch("input '{}' ({}) is missing and has no default", input.name, input.type);
  return {};
}

Status Session::Parts::set_inputs(const NamedTensors& given) {
  RUNG_CHECK(check_given(given));
  return ports.set(given);
}

// Once the run has begun on a device, it waits for it, whatever happens. It reports a bad value rather than the fault
// that the value caused.
Status Session::Parts::run() {
  settle();
  RUNG_CHECK(states->check_readable(*plan));
  RUNG_TRY(const RunCopies* copies, ports.before_run());
  if (!gpu()) RUNG_CHECK(ports.check_values());
  Status done = recorder->start(*copies, std::nullopt);
  if (done) ports.enqueued();
  Status checked = gpu() ? ports.check_values() : Status{};
  Status finished = recorder->finish();
  if (done) done = checked || device_failed(finished) ? std::move(finished) : std::move(checked);
  ports.over(done.has_value());
  states->ran(*plan, done.has_value());
  return done;
}

Status Session::Parts::run_async(gpu::Stream stream) {
  if (!gpu()) return wrong_usage("the processor has no streams: run() runs a plan there");
  if (ports.owes()) settle();
  RUNG_CHECK(states->check_readable(*plan));
  RUNG_TRY(const RunCopies* copies, ports.before_run());
  Status started = recorder->start(*copies, stream);
  states->ran(*plan, started.has_value());
  RUNG_CHECK(std::move(started));
  ports.enqueued();
  Status checked = ports.check_values();
  if (!checked) ports.over(false);
  return checked;
}

void Session::Parts::settle() {
  if (!recorder->in_flight()) return;
  Status finished = recorder->finish();
  ports.over(finished.has_value());
  if (!finished) states->ran(*plan, false);
  if (untold) untold = std::move(finished);
}

Status Session::Parts::wait() {
  settle();
  return std::exchange(untold, Status{});
}

Result<NamedOutputs> Session::Parts::outputs() {
  RUNG_CHECK(wait());
  NamedOutputs all;
  for (const auto& output : plan->outputs) {
    Tensor tensor(output.type);
    RUNG_CHECK(recorder->read(output.buffer, tensor.data(), tensor.bytes()));
    all.emplace_back(output.name, std::move(tensor));
  }
  return all;
}

Session::Session(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(std::shared_ptr<const Plan> plan, std::shared_ptr<cpu::Team> team,
                                SessionOptions options) {
  const bool are_own = !options.states;
  if (are_own) {
    RUNG_TRY(options.states, States::make(PlanSet(plan)));
  }
  RUNG_TRY(auto recorder, make_recorder(*plan, team.get(), options));
  if (are_own) RUNG_CHECK(options.states->reset());  // a captured run was tried
  return Session(
      std::make_unique<Parts>(std::move(plan), std::move(team), std::move(options.states), std::move(recorder)));
}

const Plan& Session::plan() const { return *parts_->plan; }
Recorder& Session::recorder() { return *parts_->recorder; }
cpu::Team& Session::team() { return *parts_->team; }

// Each member function enters, then calls the parts.
#define RUNG_ENTER() RUNG_TRY([[maybe_unused]] const auto stay, parts_->entrance.enter())

Result<std::byte*> Session::own_input(size_t index, Place place) {
  RUNG_ENTER();
  return parts_->ports.own_input(index, place);
}
Result<std::byte*> Session::own_output(size_t index, Place place) {
  RUNG_ENTER();
  return parts_->ports.own_output(index, place);
}
Status Session::bind_input(size_t index, Place place, const void* from) {
  RUNG_ENTER();
  return parts_->ports.bind_input(index, place, from);
}
Status Session::bind_output(size_t index, Place place, void* to) {
  RUNG_ENTER();
  return parts_->ports.bind_output(index, place, to);
}
Status Session::unbind_input(size_t index) {
  RUNG_ENTER();
  return parts_->ports.unbind_input(index);
}
Status Session::unbind_output(size_t index) {
  RUNG_ENTER();
  return parts_->ports.unbind_output(index);
}
Status Session::set_inputs(const NamedTensors& given) {
  RUNG_ENTER();
  return parts_->set_inputs(given);
}
Status Session::run() {
  RUNG_ENTER();
  return parts_->run();
}
Status Session::run_async(gpu::Stream stream) {
  RUNG_ENTER();
  return parts_->run_async(stream);
}
Status Session::wait() {
  RUNG_ENTER();
  return parts_->wait();
}
Status Session::reset_states() {
  RUNG_ENTER();
  RUNG_CHECK(parts_->wait());
  return parts_->states->reset();
}
Status Session::set_state(std::string_view name, const Tensor& value) {
  RUNG_ENTER();
  RUNG_CHECK(parts_->wait());
  return parts_->states->set(name, value);
}
Result<Tensor> Session::state(std::string_view name) {
  RUNG_ENTER();
  RUNG_CHECK(parts_->wait());
  return parts_->states->value(name);
}
Result<NamedOutputs> Session::outputs() const {
  RUNG_ENTER();
  return parts_->outputs();
}
Result<NamedOutputs> Session::infer(const NamedTensors& given) {
  RUNG_ENTER();
  RUNG_CHECK(parts_->set_inputs(given));
  RUNG_CHECK(parts_->run());
  return parts_->outputs();
}

#undef RUNG_ENTER

Status check_frozen_input(const FrozenInput& frozen, const Tensor& value) {
  if (!(value.type() == frozen.value.type()))
    return mismatch("input '{}': got {}, wanted {}", frozen.name, value.type(), frozen.value.type());
  RUNG_CHECK(check_bools("input", frozen.name, value.type(), value.data()));
  if (std::memcmp(value.data(), frozen.value.data(), value.bytes()) != 0)
    return mismatch(
        "input '{}' is frozen in this plan at another value: build a plan for this one, or do not freeze it",
        frozen.name);
  return {};
}

}  // namespace rung
