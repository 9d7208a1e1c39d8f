// Checks that no two live buffers overlap, and keeps the table of the values that buffers hold.
// SPDX-License-Identifier: Apache-2.0
#include "plan/buffers.hpp"

#include <algorithm>
#include <map>

#include "plan/state_use.hpp"

namespace rung {
namespace {

constexpr uint64_t kMostArenaBytes = kMostOperandBytes;

Status check_buffer(const Plan& plan, const Buffer& b) {
  if (b.offset % kBufferAlignment || b.offset > plan.arena_bytes || b.bytes > plan.arena_bytes - b.offset ||
      b.bytes == 0 || b.first_step > b.last_step || b.last_step > plan.steps.size())
    return fail("a buffer of {} bytes at {}, alive from step {} to {}, does not fit the arena of {} and {} steps",
                b.bytes, b.offset, b.first_step, b.last_step, plan.arena_bytes, plan.steps.size());
  return {};
}

// No step reads or writes a port without elements, so that nothing else is wanted of it.
Status check_port(const Type& type) {
  if (type.elements() == 0) return {};
  RUNG_CHECK(dense_access({type.dtype, type.shape, contiguous_strides(type.shape)}));
  return {};
}

using Order = std::vector<const Buffer*>;
Order ordered_by(Order order, uint32_t Buffer::*step) {
  std::sort(order.begin(), order.end(), [step](const Buffer* a, const Buffer* b) { return a->*step < b->*step; });
  return order;
}

}  // namespace

Status check_buffers(const Plan& plan) {
  if (plan.arena_bytes > kMostArenaBytes) return fail("an arena of {} bytes is out of range", plan.arena_bytes);
  const std::vector<bool> outside = state_buffers(plan);
  Order all;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (outside[i]) continue;
    RUNG_CHECK(check_buffer(plan, plan.buffers[i]));
    all.push_back(&plan.buffers[i]);
  }
  // A sweep over steps: the buffers alive at a step lie apart, so a new one can overlap only its neighbours.
  const Order dying = ordered_by(all, &Buffer::last_step);
  auto next_to_die = dying.begin();
  std::map<uint64_t, uint64_t> alive;  // begin and end addresses
  for (const Buffer* b : ordered_by(all, &Buffer::first_step)) {
    for (; (*next_to_die)->last_step < b->first_step; ++next_to_die) alive.erase((*next_to_die)->offset);
    auto above = alive.lower_bound(b->offset);
    if ((above != alive.end() && above->first < b->offset + b->bytes) ||
        (above != alive.begin() && std::prev(above)->second > b->offset))
      return fail("two buffers alive at step {} overlap", b->first_step);
    alive.emplace_hint(above, b->offset, b->offset + b->bytes);
  }
  return {};
}

Status Holdings::check_alive(uint32_t buffer, uint32_t step) const {
  if (buffer >= held_.size()) return fail("buffer {} of {}", buffer, held_.size());
  const Buffer& b = plan_.buffers[buffer];
  if (step < b.first_step || step > b.last_step)
    return fail("buffer {} is not alive: it is from step {} to {}", buffer, b.first_step, b.last_step);
  return {};
}

Status Holdings::take(uint32_t buffer, Held held, uint32_t first_step, uint32_t last_step) {
  RUNG_CHECK(check_alive(buffer, first_step));
  RUNG_CHECK(check_alive(buffer, last_step));
  if (held_[buffer].kind != Held::Kind::nothing) return fail("buffer {} is in use for another value", buffer);
  if (const uint64_t wanted = held.values.back().end(); plan_.buffers[buffer].bytes < wanted)
    return fail("buffer {} has {} bytes, wanted {}", buffer, plan_.buffers[buffer].bytes, wanted);
  held_[buffer] = std::move(held);
  return {};
}

Status Holdings::add_input(const PlanInput& input) {
  RUNG_CHECK(check_port(input.type));
  return take(input.buffer, {Held::Kind::input, {{input.type}}}, 0, static_cast<uint32_t>(plan_.steps.size()));
}

Status Holdings::add_state(const PlanState& state) {
  RUNG_CHECK(dense_access({state.type.dtype, state.type.shape, contiguous_strides(state.type.shape)}));
  const auto end = static_cast<uint32_t>(plan_.steps.size());
  RUNG_CHECK(take(state.buffer, {Held::Kind::state, {{state.type}}}, 0, end));
  if (const Buffer& b = plan_.buffers[state.buffer]; b.offset != 0 || b.bytes != state.type.bytes())
    return fail("got {} bytes at {}, wanted {} at 0", b.bytes, b.offset, state.type.bytes());
  return {};
}

// A state is written once and whole, as the only result of a step.
Status Holdings::write_state(uint32_t buffer, const std::vector<ResultPlace>& results, uint32_t step) {
  RUNG_CHECK(check_alive(buffer, step));
  Held& held = held_[buffer];
  const Type& wanted = held.values[0].type;
  if (results.size() != 1 || results[0].type.dtype != wanted.dtype || results[0].type.bytes() != wanted.bytes())
    return fail("its result is not the state in buffer {}, a {}", buffer, wanted);
  held.kind = Held::Kind::written_state;
  return {};
}

Status Holdings::add_results(uint32_t buffer, std::vector<ResultPlace> results, uint32_t step) {
  if (buffer < held_.size() && held_[buffer].kind == Held::Kind::state) return write_state(buffer, results, step);
  return take(buffer, {Held::Kind::result, std::move(results)}, step, step);
}

Status Holdings::update(uint32_t buffer, const Type& type) {
  Held& held = held_[buffer];
  if (held.kind == Held::Kind::input) return fail("it updates the input in buffer {}", buffer);
  if (held.values.size() != 1 || held.values[0].type.bytes() != type.bytes())
    return fail("it updates {} in buffer {}, which holds more", type, buffer);
  if (held.kind == Held::Kind::state) held.kind = Held::Kind::written_state;
  return {};
}

Status Holdings::add_scratch(uint32_t buffer, uint64_t bytes, uint32_t step) {
  const Type type{DType::u8, {static_cast<int64_t>(bytes)}};
  return take(buffer, {Held::Kind::scratch, {{type}}}, step, step);
}

Status Holdings::check_read(const PlanOperand& operand, const Access& access, uint32_t step) const {
  RUNG_CHECK(check_alive(operand.index, step));
  const Held& held = held_[operand.index];
  if (held.kind == Held::Kind::nothing || held.kind == Held::Kind::scratch)
    return fail("buffer {} holds no value yet", operand.index);
  // The last value that begins no later than the operand.
  auto value = held.values.begin();
  while (value + 1 != held.values.end() && value[1].offset <= operand.offset) ++value;
  if (value->type.dtype != operand.view.dtype)
    return fail("buffer {} holds {}, and is read as {}", operand.index, value->type.dtype, operand.view.dtype);
  if (operand.offset > value->end() || access.bytes > value->end() - operand.offset)
    return fail("an operand reaches past its {} bytes", value->type.bytes());
  if ((plan_.buffers[operand.index].offset + operand.offset) % access.alignment)
    return fail("an operand begins at byte {}, wanted a multiple of {}", operand.offset, access.alignment);
  return {};
}

Status Holdings::check_output(const PlanOutput& output) const {
  RUNG_CHECK(check_alive(output.buffer, static_cast<uint32_t>(plan_.steps.size())));
  const Held& held = held_[output.buffer];
  RUNG_CHECK(check_port(output.type));
  if (output.type.elements() == 0 && held.kind == Held::Kind::nothing) return {};
  if (held.kind != Held::Kind::result) return fail("buffer {} holds no step's result", output.buffer);
  const Type& first = held.values[0].type;
  if (held.values.size() != 1 || first.dtype != output.type.dtype || first.bytes() != output.type.bytes())
    return fail("buffer {} holds {} bytes of {}, wanted {}", output.buffer, held.values.back().end(), first.dtype,
                output.type);
  return {};
}

}  // namespace rung
