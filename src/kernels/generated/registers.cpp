// Linear scan: where registers run out, the value that is needed last lives in a slot from its definition on.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/registers.hpp"

#include <algorithm>
#include <map>

namespace rung::generated {
namespace {

using Kind = Place::Kind;

// Whether its value is another one for each element though no operand is.
bool varies(Primitive p) {
  return p == Primitive::load || p == Primitive::carried || p == Primitive::place_in_row || p == Primitive::is_element;
}

// Whether each step has one value for all elements; masks, which have few registers, are computed where they are used,
// and so is what else has no slot.
std::vector<bool> invariant_steps(const Body& body, const std::vector<bool>& same, bool once) {
  constexpr size_t kMostSlots = 128;  // of the preamble
  std::vector<bool> invariant(body.steps.size());
  size_t slots = 0;
  for (size_t i = 0; i < body.steps.size(); ++i) {
    const Step& step = body.steps[i];
    invariant[i] = !has_effect(step.primitive) && !gives_mask(step.primitive) && !varies(step.primitive);
    if (step.primitive == Primitive::load) invariant[i] = is_same(same, loaded_operand(step));
    if (once) invariant[i] = false;
    if (step.primitive == Primitive::constant || step.primitive == Primitive::row_value) invariant[i] = true;
    for (int o = 0; o < operands_of(step.primitive); ++o)
      invariant[i] = invariant[i] && invariant[static_cast<size_t>(step.operand[o])];
    if (step.primitive == Primitive::constant || step.primitive == Primitive::row_value || !invariant[i]) continue;
    if (step.primitive != Primitive::load && slots >= kMostSlots) invariant[i] = false;
    slots += invariant[i];
  }
  return invariant;
}

// Copies alternate step by step, so that their chains overlap; rare steps of one copy stand together, as one jump
// leaves them out.
std::vector<Placed> interleaved(const Body& body, const std::vector<bool>& invariant, int copies) {
  std::vector<Placed> order;
  const int count = static_cast<int>(body.steps.size());
  for (int i = 0; i < count; ++i) {
    if (invariant[static_cast<size_t>(i)]) continue;
    int end = i + 1;
    if (body.steps[static_cast<size_t>(i)].primitive == Primitive::begin_rare)
      while (body.steps[static_cast<size_t>(end - 1)].primitive != Primitive::end_rare) ++end;
    for (int copy = 0; copy < copies; ++copy)
      for (int step = i; step < end; ++step)
        if (!invariant[static_cast<size_t>(step)]) order.push_back({step, copy});
    i = end - 1;
  }
  return order;
}

struct Interval {
  Placed of;
  int begin = 0, end = 0;
};

// Allocates the registers of one kind to the values of one sequence of steps.
class Scan {
 public:
  Scan(Schedule& schedule, std::vector<int>& slot_ends, Kind kind, std::vector<int> registers)
      : schedule_(schedule), slot_ends_(slot_ends), kind_(kind), free_(std::move(registers)) {}

  void run(const std::vector<Interval>& intervals) {
    for (const Interval& interval : intervals) {
      expire(interval.begin);
      if (free_.empty()) {
        spill_one(interval);
        continue;
      }
      take(interval, free_.back());
      free_.pop_back();
    }
  }

 private:
  Place& place(const Interval& interval) {
    return schedule_.places[static_cast<size_t>(interval.of.copy)][static_cast<size_t>(interval.of.step)];
  }
  void take(const Interval& interval, int reg) {
    place(interval) = {kind_, reg};
    active_.insert({interval.end, interval});
  }
  // A value whose last reader stands at `at` leaves its register to that reader's result.
  void expire(int at) {
    while (!active_.empty() && active_.begin()->first <= at) {
      free_.push_back(place(active_.begin()->second).index);
      active_.erase(active_.begin());
    }
  }
  void spill_one(const Interval& interval) {
    if (active_.empty() || active_.rbegin()->first <= interval.end) return to_slot(interval);
    const auto last = std::prev(active_.end());
    const Interval victim = last->second;
    const int reg = place(victim).index;
    active_.erase(last);
    to_slot(victim);
    take(interval, reg);
  }
  void to_slot(const Interval& interval) {
    size_t slot = 0;
    while (slot < slot_ends_.size() && slot_ends_[slot] > interval.begin) ++slot;
    if (slot == slot_ends_.size()) slot_ends_.push_back(0);
    slot_ends_[slot] = interval.end;
    place(interval) = {Kind::slot, static_cast<int>(slot)};
  }

  Schedule& schedule_;
  std::vector<int>& slot_ends_;  // the end of the last value of each slot
  Kind kind_;
  std::vector<int> free_;
  std::multimap<int, Interval> active_;  // by their end
};

class Scheduler {
 public:
  Scheduler(const Body& body, const std::vector<bool>& same, const RegisterFile& file, const Frame& frame)
      : body_(body), file_(file), frame_(frame), invariant_(invariant_steps(body, same, frame.once)) {}

  Schedule run(int copies) {
    schedule_.frame = frame_;
    schedule_.copies = copies;
    slot_ends_.assign(static_cast<size_t>(frame_.row_values), INT32_MAX);
    schedule_.places.assign(static_cast<size_t>(copies), std::vector<Place>(body_.steps.size()));
    place_constants();
    for (int i = 0; i < static_cast<int>(body_.steps.size()); ++i)
      if (invariant_[static_cast<size_t>(i)] && !is_constant(i)) schedule_.preamble.push_back({i, 0});
    schedule_.loop = interleaved(body_, invariant_, schedule_.copies);
    keep_preamble_in_slots();
    allocate();
    keep_in_registers();
    schedule_.slots = static_cast<int>(slot_ends_.size());
    return std::move(schedule_);
  }

 private:
  const Step& step_at(int step) const { return body_.steps[static_cast<size_t>(step)]; }
  bool is_constant(int step) const { return step_at(step).primitive == Primitive::constant; }
  void place_everywhere(int step, Place place) {
    for (auto& of_copy : schedule_.places) of_copy[static_cast<size_t>(step)] = place;
  }

  void place_constants() {
    for (int i = 0; i < static_cast<int>(body_.steps.size()); ++i)
      if (is_constant(i)) {
        place_everywhere(i, {Kind::constant, static_cast<int>(schedule_.constants.size())});
        schedule_.constants.push_back(body_.steps[static_cast<size_t>(i)].immediate);
      }
  }

  // Results of the preamble are needed as long as the loop runs, so none of them shares a slot.
  void keep_preamble_in_slots() {
    for (const Placed& placed : schedule_.preamble) {
      if (step_at(placed.step).primitive == Primitive::row_value) {
        place_everywhere(placed.step, {Kind::slot, static_cast<int>(step_at(placed.step).immediate)});
        continue;
      }
      place_everywhere(placed.step, {Kind::slot, static_cast<int>(slot_ends_.size())});
      slot_ends_.push_back(static_cast<int>(schedule_.loop.size()) + 1);
    }
  }

  void allocate() {
    const auto& order = schedule_.loop;
    std::map<std::pair<int, int>, Interval> by_value;
    for (int at = 0; at < static_cast<int>(order.size()); ++at) {
      const Placed& placed = order[static_cast<size_t>(at)];
      const Step& step = body_.steps[static_cast<size_t>(placed.step)];
      for (int o = 0; o < operands_of(step.primitive); ++o)
        if (const auto it = by_value.find({placed.copy, step.operand[o]}); it != by_value.end()) it->second.end = at;
      if (!has_effect(step.primitive)) by_value[{placed.copy, placed.step}] = {placed, at, at + 1};
    }
    place_carried(by_value);
    std::vector<Interval> vectors, masks;
    for (const auto& [key, interval] : by_value)
      (is_mask_register(interval.of.step) ? masks : vectors).push_back(interval);
    for (auto* of_kind : {&vectors, &masks}) std::ranges::sort(*of_kind, {}, &Interval::begin);
    Scan(schedule_, slot_ends_, Kind::vector_register, numbers(0, free_vectors())).run(vectors);
    Scan(schedule_, slot_ends_, Kind::mask_register, numbers(file_.first_mask, file_.masks)).run(masks);
  }

  int free_vectors() const { return file_.vectors - frame_.carried; }

  // Variables stand in their registers, and so does, from the start, what becomes of one that is read no more.
  void place_carried(std::map<std::pair<int, int>, Interval>& by_value) {
    std::map<uint32_t, int> last_read;  // by variable: a step
    std::vector<int> reads(body_.steps.size());
    for (int i = 0; i < static_cast<int>(body_.steps.size()); ++i)
      for (int o = 0; o < operands_of(step_at(i).primitive); ++o) {
        const int operand = step_at(i).operand[o];
        ++reads[static_cast<size_t>(operand)];
        if (step_at(operand).primitive == Primitive::carried) last_read[step_at(operand).immediate] = i;
      }
    for (const Placed& placed : schedule_.loop) {
      const Step& step = step_at(placed.step);
      if (step.primitive != Primitive::carried && step.primitive != Primitive::carry) continue;
      const int value = step.primitive == Primitive::carried ? placed.step : step.operand[0];
      const bool stays = step.primitive == Primitive::carried ||
                         (reads[static_cast<size_t>(value)] == 1 && by_value.contains({placed.copy, value}) &&
                          last_read.contains(step.immediate) && last_read[step.immediate] <= value);
      if (!stays) continue;
      by_value.erase({placed.copy, value});
      schedule_.places[static_cast<size_t>(placed.copy)][static_cast<size_t>(value)] = {
          Kind::vector_register, frame_.register_of(file_, step.immediate, placed.copy)};
    }
  }

  bool is_mask_register(int step) const {
    return file_.masks > 0 && gives_mask(body_.steps[static_cast<size_t>(step)].primitive);
  }

  // In descending order: the scan takes the last one first.
  static std::vector<int> numbers(int first, int count) {
    std::vector<int> all;
    for (int i = count; i-- > 0;) all.push_back(first + i);
    return all;
  }

  // Registers that no value of the loop takes hold the constants and results of the preamble that it reads most.
  void keep_in_registers() {
    std::vector<bool> used(static_cast<size_t>(file_.vectors));
    for (const auto& of_copy : schedule_.places)
      for (const Place& place : of_copy)
        if (place.kind == Kind::vector_register) used[static_cast<size_t>(place.index)] = true;
    std::map<int, int> reads;
    for (const Placed& placed : schedule_.loop) {
      const Step& step = body_.steps[static_cast<size_t>(placed.step)];
      for (int o = 0; o < operands_of(step.primitive); ++o)
        if (invariant_[static_cast<size_t>(step.operand[o])]) ++reads[step.operand[o]];
    }
    std::vector<std::pair<int, int>> order;
    for (const auto& [step, count] : reads)
      if (count > 1 || !frame_.once) order.emplace_back(-count, step);
    std::ranges::sort(order);
    auto next = order.begin();
    for (int reg = 0; reg < free_vectors() && next != order.end(); ++reg)
      if (!used[static_cast<size_t>(reg)]) keep((next++)->second, reg);
  }

  void keep(int step, int reg) {
    const Place& place = schedule_.place(step, 0);
    if (place.kind == Kind::constant) schedule_.kept.push_back({place.index, reg});
    place_everywhere(step, {Kind::vector_register, reg});
  }

  const Body& body_;
  const RegisterFile& file_;
  const Frame& frame_;
  std::vector<bool> invariant_;
  Schedule schedule_;
  std::vector<int> slot_ends_;
};

int registers_taken(const Schedule& schedule) {
  std::vector<int> taken;
  for (const Placed& placed : schedule.loop)
    if (const Place& place = schedule.place(placed.step, placed.copy); place.kind == Kind::vector_register)
      taken.push_back(place.index);
  std::ranges::sort(taken);
  return static_cast<int>(std::unique(taken.begin(), taken.end()) - taken.begin());
}

}  // namespace

Schedule schedule(const Body& body, const std::vector<bool>& same, const RegisterFile& file, int copies,
                  const Frame& frame) {
  return Scheduler(body, same, file, frame).run(copies);
}

int vectors_in_flight(const Body& body, const std::vector<bool>& same, const RegisterFile& file, int variables) {
  constexpr int kMostCopies = 4, kMostSteps = 800;  // a longer loop leaves the caches of decoded instructions
  const Schedule single = schedule(body, same, file, 1, {.variables = variables, .carried = variables});
  const int by_registers = file.vectors / std::max(1, registers_taken(single));
  const int by_steps = kMostSteps / std::max(1, static_cast<int>(single.loop.size()));
  return std::clamp(std::min(by_registers, by_steps), 1, kMostCopies);
}

Schedule schedule(const Body& body, const std::vector<bool>& same, const RegisterFile& file) {
  return schedule(body, same, file, vectors_in_flight(body, same, file, 0));
}

}  // namespace rung::generated
