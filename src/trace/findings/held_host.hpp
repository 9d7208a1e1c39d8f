// Waits, copies, allocations and compilation that hold up the launching threads inside the recorded steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

// Results of one pass over a recording, for repeated look-ups.
class HeldHost {
 public:
  explicit HeldHost(const Analysis& analysis);

  // Returns events that hold up a thread for a cause, within the wall, on threads that launch work of the analysed
  // device: the outermost of nested ones, by start.
  const std::vector<uint32_t>& by(GapCause cause) const { return by_cause_[static_cast<size_t>(cause)]; }
  // Returns the index in Analysis::work of a call's work; kNone: it has none.
  uint32_t work_of(uint32_t call) const;
  // Returns whether the host waits for the device in the call: in synchronisations, blocking copies and frees.
  bool waits(uint32_t call) const;
  // Returns whether it lies between two launches of one step, so not at a step's start or end.
  bool is_inside_step(uint32_t event) const;
  bool launches(uint16_t lane) const { return lane < launching_.size() && launching_[lane]; }

 private:
  void note_launches();
  void note_holds();

  struct Launch {
    int64_t start_ns;
    std::optional<size_t> step;  // of its work
  };
  const Analysis& analysis_;
  std::array<std::vector<uint32_t>, kGapCauseWords.size()> by_cause_;
  std::unordered_map<uint32_t, GapCause> causes_;
  std::vector<bool> launching_;   // by lane
  std::vector<Launch> launches_;  // by start
  std::unordered_map<uint32_t, uint32_t> work_by_call_;
};

// Returns the purpose of a call: the outermost PyTorch operation around it ("aten::item"), else the call itself.
std::string_view purpose_of(const Analysis& analysis, uint32_t call);
// Returns "aten::item > cudaStreamSynchronize".
std::string call_in_words(const Analysis& analysis, uint32_t call);

}  // namespace rung::trace
