// Keeps the counters of s_waitcnt that registers depend on, vmcnt and lgkmcnt, as queues of the counted instructions.
// SPDX-License-Identifier: Apache-2.0
// A wave's loads, stores and atomics end in the order of their issue, as LDS instructions do among themselves. Scalar
// loads, and flat instructions, which both counters count, end in any order: only a wait for zero is sure of them.
#include "amdgpu/run/scoreboard.hpp"

#include <algorithm>

#include "amdgpu/run/lds.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {

void Scoreboard::clear() { vector_.clear(), local_.clear(), writes_.clear(), free_writes_.clear(); }

int16_t Scoreboard::new_write(const LdsPlaces& places, const uint64_t* addresses, uint64_t lanes) {
  if (free_writes_.empty()) {
    writes_.emplace_back();
    free_writes_.push_back(static_cast<int16_t>(writes_.size() - 1));
  }
  const int16_t index = free_writes_.back();
  free_writes_.pop_back();
  LdsWrite& write = writes_[index];
  static_cast<LdsPlaces&>(write) = places;
  write.lanes = lanes, write.marked = false;
  for (int lane = 0; lane < kWaveLanes; ++lane) write.address[lane] = static_cast<uint32_t>(addresses[lane]);
  return index;
}

void Scoreboard::issue(std::vector<InFlight>& queue, size_t most, Wave& wave, InFlight work) {
  if (queue.size() >= most) wait(queue, most - 1, wave);
  for (unsigned r = work.first; r < unsigned{work.first} + work.registers; ++r)
    ++(work.scalar ? wave.scalar_pending[r] : wave.pending[r]);
  queue.push_back(work);
}

bool Scoreboard::may_be_overtaken(uint16_t reg, bool by_vector) const {
  const auto writes = [&](const InFlight& work) {
    return !work.scalar && reg >= work.first && reg < work.first + work.registers;
  };
  const std::vector<InFlight>&own = by_vector ? vector_ : local_, &other = by_vector ? local_ : vector_;
  return std::ranges::any_of(other, writes) ||
         std::ranges::any_of(own, [&](const InFlight& work) { return !work.ordered && writes(work); });
}

void Scoreboard::wait(std::vector<InFlight>& queue, size_t most, Wave& wave) {
  if (queue.size() <= most) return;
  if (most == 0) {
    for (const InFlight& work : queue) finish(wave, work);
    return queue.clear();
  }
  // Instructions without an order may have ended first, so as many of the others are not sure to have ended.
  const auto loose = static_cast<size_t>(std::ranges::count(queue, false, &InFlight::ordered));
  size_t sure = queue.size() - most;
  sure -= std::min(sure, loose);
  std::erase_if(queue, [&](const InFlight& work) {
    if (!work.ordered || sure == 0) return false;
    --sure;
    finish(wave, work);
    return true;
  });
}

void Scoreboard::settle(Wave& wave, uint32_t reg, bool scalar) {
  for (auto* queue : {&vector_, &local_})
    for (InFlight& work : *queue) {
      if (work.scalar != scalar || reg < work.first || reg >= uint32_t{work.first} + work.registers) continue;
      for (unsigned r = work.first; r < unsigned{work.first} + work.registers; ++r)
        --(scalar ? wave.scalar_pending[r] : wave.pending[r]);
      work.registers = 0;
    }
}

static void set_pending(Lds& lds, const LdsWrite& write, bool pending) {
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    if (!(write.lanes >> lane & 1)) continue;
    lds.set_pending(write.address[lane] + write.first, write.bytes, pending, !write.direct);
    if (write.places == 2) lds.set_pending(write.address[lane] + write.second, write.bytes, pending, !write.direct);
  }
}

void Scoreboard::finish(Wave& wave, const InFlight& work) {
  for (unsigned r = work.first; r < unsigned{work.first} + work.registers; ++r)
    --(work.scalar ? wave.scalar_pending[r] : wave.pending[r]);
  if (work.lds < 0) return;
  LdsWrite& write = writes_[work.lds];
  if (write.marked) {
    set_pending(wave.lds(), write, false);
    write.marked = false;
    keep_pending(wave.lds(), write);
  }
  free_writes_.push_back(work.lds);
}

// Marks bytes again that other instructions of the wave are still to write, among those that `done` wrote.
void Scoreboard::keep_pending(Lds& lds, const LdsWrite& done) {
  for (const auto* queue : {&vector_, &local_})
    for (const InFlight& work : *queue)
      if (work.lds >= 0 && writes_[work.lds].marked && writes_[work.lds].may_meet(done))
        set_pending(lds, writes_[work.lds], true);
}

void LdsWrite::mark() {
  marked = true;
  lowest = ~uint32_t{0}, highest = 0;
  const uint32_t other = places == 2 ? second : first;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    lowest = std::min(lowest, address[lane] + std::min(first, other));
    highest = std::max(highest, address[lane] + std::max(first, other) + bytes);
  }
}

void Scoreboard::mark_direct(Lds& lds, int16_t index) {
  writes_[index].mark();
  set_pending(lds, writes_[index], true);
}

void Scoreboard::mark_writes(Lds& lds) {
  for (const auto* queue : {&vector_, &local_})
    for (const InFlight& work : *queue)
      if (work.lds >= 0 && !writes_[work.lds].marked) {
        set_pending(lds, writes_[work.lds], true);
        writes_[work.lds].mark();
      }
}

}  // namespace rung::amdgpu
