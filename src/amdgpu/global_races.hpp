// Which work-group of a launch wrote and read each byte of memory: a byte that two touch, one by a plain write, is a
// race.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

namespace rung::amdgpu {

struct Wave;
struct Instruction;
struct Addresses;
struct GlobalAccess;

// One for a launch; groups on several threads share it.
class GlobalRaces {
 public:
  GlobalRaces();
  ~GlobalRaces();
  // Notes an access and ends the wave with a finding if another group's access makes it a race.
  void touch(Wave& wave, const Instruction& instruction, const Addresses& addresses, const GlobalAccess& access);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rung::amdgpu
