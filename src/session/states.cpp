// Keeps host blocks or device blocks in one table by state name.
// SPDX-License-Identifier: Apache-2.0
#include "session/states.hpp"

#include <bit>
#include <cstring>

#include "base/big_block.hpp"
#include "device/gpu/current_context.hpp"

namespace rung {

Result<std::shared_ptr<States>> States::make(const PlanSet& plans) {
  std::shared_ptr<States> states(new States(plans));
  for (const auto& plan : states->plans_) {
    Uses& uses = states->uses_[plan.get()];
    for (const PlanState& state : plan->states) {
      uses[state.name] = use_of(*plan, state);
      if (!states->held_.contains(state.name)) RUNG_CHECK(states->add(state));
    }
  }
  RUNG_CHECK(states->reset());
  return states;
}

Status States::add(const PlanState& state) {
  Held held{.state = &state};
  if (const auto& gpu = plans_.first().target->gpu) {
    const gpu::CurrentContext current(*gpu);
    if (!queue_) {
      RUNG_TRY(queue_, gpu::Queue::make(*gpu));
    }
    RUNG_TRY(held.device, gpu->allocate(state.type.bytes()));
  } else {
    auto block = allocate_block(state.type.bytes() + kBufferAlignment);
    if (!block) return no_memory("state '{}': no memory for {} bytes", state.name, state.type.bytes());
    const size_t ahead = -std::bit_cast<uintptr_t>(block.get()) % kBufferAlignment;
    held.host = {block, block.get() + ahead};
  }
  held_.emplace(state.name, std::move(held));
  return {};
}

gpu::Address States::address(const Plan& plan, uint32_t buffer) const {
  const PlanState* state = state_in(plan, buffer);
  if (!state) return 0;
  const Held& held = held_.at(state->name);
  return held.device ? held.device->address() : std::bit_cast<gpu::Address>(held.host.get());
}

// Writes zeros where there is no value, so that no answer ever depends on earlier contents of the memory.
Status States::fill(Held& held) {
  const PlanState& state = *held.state;
  const size_t bytes = state.type.bytes();
  held.has_value = state.initial != Initial::nothing;
  if (held.device)
    return state.value ? queue_->upload(held.device->address(), state.value->data(), bytes)
                       : queue_->fill(held.device->address(), 0, bytes);
  if (state.value)
    std::memcpy(held.host.get(), state.value->data(), bytes);
  else
    std::memset(held.host.get(), 0, bytes);
  return {};
}

Status States::reset() {
  if (held_.empty()) return {};
  std::optional<gpu::CurrentContext> current;
  if (queue_) current.emplace(queue_->gpu());
  for (auto& [name, held] : held_) RUNG_CHECK(fill(held));
  return queue_ ? queue_->wait() : Status{};
}

Status States::copy(const States& from) {
  if (held_.empty()) return {};
  std::optional<gpu::CurrentContext> current;
  if (queue_) current.emplace(queue_->gpu());
  for (auto& [name, held] : held_) {
    const Held& source = from.held_.at(name);
    const size_t bytes = held.state->type.bytes();
    held.has_value = source.has_value;
    if (held.device)
      RUNG_CHECK(queue_->copy(held.device->address(), source.device->address(), bytes));
    else
      std::memcpy(held.host.get(), source.host.get(), bytes);
  }
  return queue_ ? queue_->wait() : Status{};
}

Status States::check_readable(const Plan& plan) const {
  for (const auto& [name, use] : uses_.at(&plan))
    if (use.reads_first && !held_.at(name).has_value)
      return mismatch("state '{}' is read and holds no value: run a plan that writes it first, or reset the states",
                      name);
  return {};
}

void States::ran(const Plan& plan, bool well) {
  for (const auto& [name, use] : uses_.at(&plan))
    if (use.writes) held_.at(name).has_value = well;
}

Status States::set(std::string_view name, const Tensor& value) {
  const auto found = held_.find(name);
  if (found == held_.end()) return mismatch("there is no state '{}'", name);
  Held& held = found->second;
  if (!(value.type() == held.state->type))
    return mismatch("state '{}': got {}, wanted {}", name, value.type(), held.state->type);
  held.has_value = true;
  if (!held.device) return std::memcpy(held.host.get(), value.data(), value.bytes()), Status{};
  const gpu::CurrentContext current(queue_->gpu());
  RUNG_CHECK(queue_->upload(held.device->address(), value.data(), value.bytes()));
  return queue_->wait();
}

Result<Tensor> States::value(std::string_view name) const {
  const auto found = held_.find(name);
  if (found == held_.end()) return mismatch("there is no state '{}'", name);
  const Held& held = found->second;
  if (!held.has_value) return mismatch("state '{}' holds no value", name);
  Tensor tensor(held.state->type);
  if (!held.device) {
    std::memcpy(tensor.data(), held.host.get(), tensor.bytes());
    return tensor;
  }
  const gpu::CurrentContext current(queue_->gpu());
  RUNG_CHECK(queue_->download(tensor.data(), held.device->address(), tensor.bytes()));
  return tensor;
}

Result<NamedTensors> States::values() const {
  NamedTensors values;
  for (const auto& [name, held] : held_) {
    if (!held.has_value) continue;
    RUNG_TRY(values[std::string(name)], value(name));
  }
  return values;
}

}  // namespace rung
