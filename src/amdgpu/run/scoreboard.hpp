// A wave's memory instructions under way, as s_waitcnt counts them: the registers and LDS bytes not to be used yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "amdgpu/isa/isa.hpp"

namespace rung::amdgpu {

struct Wave;
class Lds;

// The bytes of LDS that an instruction writes: `bytes` at `first` and, with two places, at `second` behind each lane's
// address.
struct LdsPlaces {
  uint32_t first = 0, second = 0;
  uint8_t bytes = 0, places = 1;
  bool direct = false;  // from memory: its bytes are pending from the start, for this wave, too
};
struct LdsWrite : LdsPlaces {
  std::array<uint32_t, kWaveLanes> address;
  uint64_t lanes = 0;
  bool marked = false;               // its bytes are marked as pending
  uint32_t lowest = 0, highest = 0;  // [lowest, highest) holds all marked bytes
  void mark();
  bool may_meet(const LdsWrite& other) const { return lowest < other.highest && other.lowest < highest; }
};

// An instruction on its way.
struct InFlight {
  uint16_t first = 0;     // the first register of Wave::pending, or of Wave::scalar_pending
  uint8_t registers = 0;  // none: it only counts
  bool scalar = false;
  bool ordered = true;  // returns after those issued before it; false for scalar loads and flat instructions
  int16_t lds = -1;     // the index of its LdsWrite; -1: none
};

class Scoreboard {
 public:
  static constexpr size_t kMostVector = 63, kMostLocal = 15;  // the counters end there: issuing waits until one is done

  void clear();
  void issue_vector(Wave& wave, InFlight work) { issue(vector_, kMostVector, wave, work); }
  void issue_local(Wave& wave, InFlight work) { issue(local_, kMostLocal, wave, work); }
  // Returns whether the register is still to be written by an instruction that the other counter counts, or that has no
  // order: an instruction issued now may be done before it.
  bool may_be_overtaken(uint16_t reg, bool by_vector) const;
  // Marks the bytes of a write from memory, which even this wave must wait for.
  void mark_direct(Lds& lds, int16_t index);
  // Makes a place for the LDS bytes that an instruction about to be issued writes.
  int16_t new_write(const LdsPlaces& places, const uint64_t* addresses, uint64_t lanes);
  // Counts as written all registers of the instructions that write this one; the instructions count as before.
  void settle(Wave& wave, uint32_t reg, bool scalar);
  // Executes s_waitcnt: waits until at most `most` are on their way.
  void wait_vector(Wave& wave, size_t most) { wait(vector_, most, wave); }
  void wait_local(Wave& wave, size_t most) { wait(local_, most, wave); }
  // Marks at s_barrier the bytes that this wave has not finished writing: other waves may be about to use them.
  void mark_writes(Lds& lds);

 private:
  void issue(std::vector<InFlight>& queue, size_t most, Wave& wave, InFlight work);
  void wait(std::vector<InFlight>& queue, size_t most, Wave& wave);
  void finish(Wave& wave, const InFlight& work);
  void keep_pending(Lds& lds, const LdsWrite& done);

  std::vector<InFlight> vector_, local_;  // in order of issue
  std::vector<LdsWrite> writes_;
  std::vector<int16_t> free_writes_;
};

}  // namespace rung::amdgpu
