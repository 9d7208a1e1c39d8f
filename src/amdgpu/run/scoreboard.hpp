// Memory instructions of a wave that are under way, as s_waitcnt counts them: registers and LDS bytes not to be used
// yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "amdgpu/isa/target.hpp"

namespace rung::amdgpu {

struct Wave;
class Lds;

// Bytes of LDS that an instruction writes: `bytes` at `first` and, where there are two, `second` behind each lane's
// address.
struct LdsPlaces {
  uint32_t first = 0, second = 0;
  uint8_t bytes = 0, places = 1;
  bool direct = false;  // from memory: its bytes are pending from the start, for this wave, too
};
struct LdsWrite : LdsPlaces {
  std::array<uint32_t, kWaveLanes> address;
  uint64_t lanes = 0;
  bool marked = false;               // its bytes are marked as pending, all of which are in
  uint32_t lowest = 0, highest = 0;  // [lowest, highest)
  void mark();
  bool may_meet(const LdsWrite& other) const { return lowest < other.highest && other.lowest < highest; }
};

// One instruction on its way.
struct InFlight {
  uint16_t first = 0;     // register of Wave::pending, or of Wave::scalar_pending
  uint8_t registers = 0;  // none: it only counts
  bool scalar = false;
  bool ordered = true;  // returns after those issued before it; scalar loads and flat instructions need not
  int16_t lds = -1;     // its LdsWrite
};

class Scoreboard {
 public:
  static constexpr size_t kMostVector = 63, kMostLocal = 15;  // the counters end there: issuing waits until one is done

  void clear();
  void issue_vector(Wave& wave, InFlight work) { issue(vector_, kMostVector, wave, work); }
  void issue_local(Wave& wave, InFlight work) { issue(local_, kMostLocal, wave, work); }
  // Whether the register is to be written by one that the other counter counts, or that has no order: what is issued
  // now may be done before.
  bool may_be_overtaken(uint16_t reg, bool by_vector) const;
  // Marks the bytes of a write from memory, which even this wave must wait for.
  void mark_direct(Lds& lds, int16_t index);
  // A place for what an instruction about to be issued writes to LDS.
  int16_t new_write(const LdsPlaces& places, const uint64_t* addresses, uint64_t lanes);
  // Takes all registers of the instructions that are to write this one for written; they count as before.
  void settle(Wave& wave, uint32_t reg, bool scalar);
  // s_waitcnt: until at most `most` are on their way.
  void wait_vector(Wave& wave, size_t most) { wait(vector_, most, wave); }
  void wait_local(Wave& wave, size_t most) { wait(local_, most, wave); }
  // At s_barrier: others may be about to use what this wave has not finished to write.
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
