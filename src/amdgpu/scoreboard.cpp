// The two counters of s_waitcnt that registers depend on, vmcnt and lgkmcnt, as queues of what they count.
// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of a wave end in the order of their issue, as LDS instructions do among themselves; scalar
// loads, and flat instructions, which are counted twice, end whenever they do: only a wait for zero is sure of them.
#include "amdgpu/scoreboard.hpp"

#include <algorithm>

#include "amdgpu/group.hpp"

namespace rung::amdgpu {

void Scoreboard::clear() { vector_.clear(), local_.clear(), writes_.clear(), free_writes_.clear(); }

int16_t Scoreboard::new_write() {
  if (free_writes_.empty()) {
    writes_.emplace_back();
    return static_cast<int16_t>(writes_.size() - 1);
  }
  const int16_t index = free_writes_.back();
  free_writes_.pop_back();
  writes_[index] = LdsWrite{};
  return index;
}

void Scoreboard::issue(std::vector<InFlight>& queue, size_t most, Wave& wave, InFlight work) {
  if (queue.size() >= most) {
    finish(wave, queue.front());
    queue.erase(queue.begin());
  }
  for (unsigned r = work.first; r < unsigned{work.first} + work.registers; ++r)
    ++(work.scalar ? wave.scalar_pending[r] : wave.pending[r]);
  queue.push_back(work);
}

void Scoreboard::wait(std::vector<InFlight>& queue, size_t most, Wave& wave) {
  if (queue.size() <= most) return;
  if (most == 0) {
    for (const InFlight& work : queue) finish(wave, work);
    return queue.clear();
  }
  // Those without an order may have been the first to end: as many of the others are not sure to have.
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
  if (writes_[work.lds].marked) set_pending(wave.group->lds, writes_[work.lds], false);
  free_writes_.push_back(work.lds);
}

void Scoreboard::mark_direct(Lds& lds, int16_t index) {
  writes_[index].direct = writes_[index].marked = true;
  set_pending(lds, writes_[index], true);
}

void Scoreboard::mark_writes(Lds& lds) {
  for (const auto* queue : {&vector_, &local_})
    for (const InFlight& work : *queue)
      if (work.lds >= 0 && !writes_[work.lds].marked) {
        set_pending(lds, writes_[work.lds], true);
        writes_[work.lds].marked = true;
      }
}

}  // namespace rung::amdgpu
