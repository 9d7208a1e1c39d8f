// Binds ports, and prepares the copies before and after a run. On a CPU a port's own memory is the plan's buffer.
// SPDX-License-Identifier: Apache-2.0
#include "session/ports.hpp"

#include <algorithm>
#include <cstring>

#include "plan/mask_inputs.hpp"
#include "session/input_values.hpp"

namespace rung {
namespace {

// Returns the way to copy the caller's memory. The driver copies memory that the caller calls pinned: if it is not, the
// copy is slow but still correct.
Way way_of(Place place, Way of_host) {
  return place == Place::device ? Way::device : place == Place::pinned ? Way::driver : of_host;
}

}  // namespace

Ports::Ports(const Plan& plan, Recorder& recorder)
    : plan_(plan),
      recorder_(recorder),
      gpu_(plan.target->gpu != nullptr),
      in_(plan.inputs.size()),
      out_(plan.outputs.size()) {
  for (size_t i = 0; i < in_.size(); ++i)
    if (plan.inputs[i].value) in_[i].from = From::fallback;
  copies_.in.reserve(in_.size());
  copies_.out.reserve(out_.size());
  owed_.reserve(out_.size());
}

Status Ports::check_input(size_t index) const {
  if (index < in_.size()) return {};
  return wrong_usage("there is no input {}: the plan has {}, counted from 0", index, in_.size());
}

Status Ports::check_output(size_t index) const {
  if (index < out_.size()) return {};
  return wrong_usage("there is no output {}: the plan has {}, counted from 0", index, out_.size());
}

// Writes the value, or zeros, into own memory, which a run in flight may still be reading.
Status Ports::fill_own(size_t index, const Tensor* value) {
  const In& in = in_[index];
  const PlanInput& input = plan_.inputs[index];
  const size_t bytes = input.type.bytes();
  if (in.place == Place::device)
    return recorder_.write(input.buffer, value ? value->data() : Tensor(input.type).data(), bytes);
  RUNG_CHECK(recorder_.finish_copies_in());
  if (value)
    std::memcpy(in.on_host, value->data(), bytes);
  else
    std::memset(in.on_host, 0, bytes);
  return {};
}

Result<std::byte*> Ports::own_input(size_t index, Place place) {
  RUNG_CHECK(check_input(index));
  const PlanInput& input = plan_.inputs[index];
  In& in = in_[index];
  place = of_own(place);
  RUNG_TRY(std::byte * memory, recorder_.memory(input.buffer, place));
  if (in.from == From::own && in.place == place) return memory;
  In bound{.from = From::own,
           .place = place,
           .on_host = place == Place::host ? memory : in.on_host,
           .tolerates = in.tolerates};
  const In before = std::exchange(in, bound);
  const bool holds_last = place == Place::device && before.from != From::nothing && before.from != From::fallback;
  if (holds_last) return memory;
  if (Status filled = fill_own(index, input.value ? &*input.value : nullptr); !filled) {
    in = before;
    return tl::unexpected(std::move(filled).error());
  }
  return memory;
}

Result<std::byte*> Ports::own_output(size_t index, Place place) {
  RUNG_CHECK(check_output(index));
  Out& out = out_[index];
  place = of_own(place);
  RUNG_TRY(std::byte * memory, recorder_.memory(plan_.outputs[index].buffer, place));
  out = {.to = To::own, .place = place, .on_host = place == Place::host ? memory : out.on_host};
  return memory;
}

Status Ports::bind_input(size_t index, Place place, const void* from) {
  RUNG_CHECK(check_input(index));
  if (!from) return wrong_usage("input '{}': got no memory to bind", plan_.inputs[index].name);
  In& in = in_[index];
  in = {.from = From::caller, .place = here(place), .memory = from, .on_host = in.on_host, .tolerates = in.tolerates};
  return {};
}

Status Ports::bind_output(size_t index, Place place, void* to) {
  RUNG_CHECK(check_output(index));
  if (!to) return wrong_usage("output '{}': got no memory to bind", plan_.outputs[index].name);
  Out& out = out_[index];
  out = {.to = To::caller, .place = here(place), .memory = to, .on_host = out.on_host};
  return {};
}

Status Ports::unbind_input(size_t index) {
  RUNG_CHECK(check_input(index));
  In& in = in_[index];
  if (in.from == From::fallback) return {};
  const From from = plan_.inputs[index].value ? From::fallback : From::nothing;
  in = {.from = from, .on_host = in.on_host, .tolerates = in.tolerates};
  return {};
}

Status Ports::unbind_output(size_t index) {
  RUNG_CHECK(check_output(index));
  out_[index] = {.on_host = out_[index].on_host};
  return {};
}

Status Ports::set(const NamedTensors& given) {
  for (size_t i = 0; i < in_.size(); ++i) {
    const PlanInput& input = plan_.inputs[i];
    auto it = given.find(input.name);
    const Tensor& value = it == given.end() ? *input.value : it->second;
    In& in = in_[i];
    if (in.from == From::own) {
      RUNG_CHECK(fill_own(i, &value));
    } else {
      in = {.from = From::given, .on_host = in.on_host, .tolerates = in.tolerates};
      RUNG_CHECK(recorder_.write(input.buffer, value.data(), value.bytes()));
    }
  }
  return {};
}

Result<const RunCopies*> Ports::before_run() {
  for (size_t i = 0; i < in_.size(); ++i)
    if (in_[i].from == From::nothing)
      return mismatch("input '{}' ({}) is missing and has no default", plan_.inputs[i].name, plan_.inputs[i].type);
  copies_.in.clear(), copies_.out.clear();
  RUNG_CHECK(take_from_caller());
  for (size_t i = 0; i < in_.size(); ++i) RUNG_CHECK(add_copy_in(i));
  for (size_t i = 0; i < out_.size(); ++i) RUNG_CHECK(add_copy_out(i));
  return &copies_;
}

// Copies the caller's memory into a CPU plan's buffers; a GPU's recorder stages it later, in memory no longer read.
Status Ports::take_from_caller() {
  if (std::none_of(in_.begin(), in_.end(), [](const In& in) { return in.is_staged(); })) return {};
  RUNG_CHECK(recorder_.finish_copies_in());
  for (size_t i = 0; i < in_.size(); ++i) {
    In& in = in_[i];
    if (!in.is_staged()) continue;
    if (!in.on_host) {
      RUNG_TRY(in.on_host, recorder_.memory(plan_.inputs[i].buffer, Place::host));
    }
    if (!gpu_) std::memcpy(in.on_host, in.memory, plan_.inputs[i].type.bytes());
  }
  return {};
}

Status Ports::add_copy_in(size_t index) {
  const PlanInput& input = plan_.inputs[index];
  const In& in = in_[index];
  const size_t bytes = input.type.bytes();
  if (in.from == From::fallback && !in.default_in_place) {
    if (!gpu_) return recorder_.write(input.buffer, input.value->data(), bytes);
    copies_.in.push_back({input.buffer, Way::driver, input.value->data(), bytes});
  }
  if (!gpu_) return {};
  if (in.from == From::own && in.place == Place::host)
    copies_.in.push_back({input.buffer, Way::own, in.on_host, bytes});
  if (in.from == From::caller)
    copies_.in.push_back({input.buffer, way_of(in.place, Way::staged), in.memory, bytes, in.on_host});
  return {};
}

Status Ports::add_copy_out(size_t index) {
  const PlanOutput& output = plan_.outputs[index];
  Out& out = out_[index];
  const size_t bytes = output.type.bytes();
  if (out.fills_own() && !out.on_host) {
    RUNG_TRY(out.on_host, recorder_.memory(output.buffer, Place::host));
  }
  if (!gpu_ || out.to == To::nowhere) return {};
  if (out.fills_own())
    copies_.out.push_back({output.buffer, Way::own, out.on_host, bytes});
  else if (out.to == To::caller)
    copies_.out.push_back({output.buffer, way_of(out.place, Way::own), out.memory, bytes});
  return {};
}

Status Ports::check_values() {
  for (size_t i = 0; i < in_.size(); ++i)
    if (const std::byte* values = in_[i].values())
      RUNG_CHECK(check_input_values(plan_.inputs[i], values, [this, i] { return tolerated(i); }));
  return {};
}

void Ports::enqueued() {
  for (In& in : in_) in.default_in_place = in.from == From::fallback;
  for (size_t i = 0; i < out_.size(); ++i)
    if (out_[i].to == To::caller && out_[i].place == Place::host)
      owed_.push_back({out_[i].memory, out_[i].on_host, plan_.outputs[i].type.bytes()});
}

void Ports::over(bool well) {
  if (well)
    for (const Owed& owed : owed_) std::memcpy(owed.to, owed.from, owed.bytes);
  owed_.clear();
}

Tolerates Ports::tolerated(size_t input) {
  std::optional<Tolerates>& known = in_[input].tolerates;
  if (!known) known = rung::tolerated(plan_, plan_.inputs[input]);
  return *known;
}

}  // namespace rung
