// Waits, copies, allocations and compilation that hold the launching threads up inside the recorded steps.
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

// One pass over a recording, for what is looked up again and again.
class HeldHost {
 public:
  explicit HeldHost(const Analysis& analysis);

  // Events that hold a thread up for a cause, within the wall, on threads that launch work of the analysed device; of
  // nested ones the outermost; by start.
  const std::vector<uint32_t>& by(GapCause cause) const { return by_cause_[static_cast<size_t>(cause)]; }
  // The work of a call, an index of Analysis::work; none: kNone.
  uint32_t work_of(uint32_t call) const;
  // The host waits in the call for the device: in synchronisations, copies that block, and frees.
  bool waits(uint32_t call) const;
  // Between two launches of one step: not what a step ends or begins with.
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

// The purpose of a call: the outermost operation of PyTorch around it ("aten::item"), else the call itself.
std::string_view purpose_of(const Analysis& analysis, uint32_t call);
// "aten::item > cudaStreamSynchronize"
std::string call_in_words(const Analysis& analysis, uint32_t call);

}  // namespace rung::trace
