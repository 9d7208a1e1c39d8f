// The runtime's calls that hold the launching threads up: which they are, and in which step.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "advise/analysis/analysis.hpp"

namespace rung::advise {

enum class CallRole : uint8_t { other, synchronize, copy, allocate, load };
CallRole role_of_call(std::string_view name);

// One pass over a recording, for what is looked up again and again.
class HostCalls {
 public:
  explicit HostCalls(const Analysis& analysis);

  // Of a role, on threads that launch work of the analysed device, within its wall; by start.
  const std::vector<uint32_t>& of(CallRole role) const { return by_role_[static_cast<size_t>(role)]; }
  // The work of a call, an index of Analysis::work; none: kNone.
  uint32_t work_of(uint32_t call) const;
  // The host waits in the call until the device has done its work: synchronisations, and copies that end no earlier
  // than on the device.
  bool waits(uint32_t call) const;
  // Between two launches of one step: not what a step ends or begins with.
  bool is_inside_step(uint32_t call) const;
  bool launches(uint16_t lane) const { return lane < launching_.size() && launching_[lane]; }

 private:
  void note_launches();
  void note_calls();

  const Analysis& analysis_;
  std::array<std::vector<uint32_t>, 5> by_role_;
  std::vector<bool> launching_;  // by lane
  std::unordered_map<uint32_t, uint32_t> work_by_call_;
  struct Launch {
    int64_t start_ns;
    std::optional<size_t> step;  // of its work
  };
  std::vector<Launch> launches_;  // by start
};

// What a call is made for: the outermost operation of a framework around it ("aten::item"), else the call itself.
std::string_view purpose_of(const Analysis& analysis, uint32_t call);

}  // namespace rung::advise
