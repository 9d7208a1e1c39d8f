// Follows facts about lanes along all paths through a kernel: states where blocks begin, until nothing changes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "amdgpu/analysis/lane_values.hpp"

namespace rung::amdgpu {
namespace {

// States only lose values, which takes few rounds in compilers' code; the flow gives up on code that takes more.
constexpr size_t kMostVisits = 16, kMostBlocks = 10'000;  // visits of a block, on average

bool is_address(const Placed& placed) {
  switch (placed.instruction.encoding) {
    case Encoding::ds:
    case Encoding::flat:
    case Encoding::global:
    case Encoding::mubuf:
      return true;
    default:
      return false;
  }
}

class Flow {
 public:
  Flow(const Listing& listing, const std::vector<Block>& blocks)
      : listing_(listing), blocks_(blocks), states_(blocks.size()) {
    follow();
  }
  std::vector<LaneValuePtr> addresses() const;

 private:
  void follow();

  const Listing& listing_;
  const std::vector<Block>& blocks_;
  std::vector<std::optional<LaneState>> states_;  // where each block begins; none: the block is not reached
  bool given_up_ = false;
};

void Flow::follow() {
  // A register number that a scalar's value displaces could be any.
  given_up_ = std::any_of(listing_.instructions.begin(), listing_.instructions.end(),
                          [](const Placed& placed) { return placed.instruction.opcode == Opcode::s_set_gpr_idx_on; });
  if (blocks_.empty() || given_up_) return;
  states_[0] = LaneState::at_entry();
  std::vector<size_t> waiting{0};
  std::vector<bool> waits(blocks_.size());
  for (size_t visits = 0; !waiting.empty(); ++visits) {
    given_up_ = blocks_.size() > kMostBlocks || visits > kMostVisits * (blocks_.size() + kMostVisits);
    if (given_up_) return;
    const Block& block = blocks_[waiting.back()];
    LaneState state = *states_[waiting.back()];
    waits[waiting.back()] = false;
    waiting.pop_back();
    for (size_t i = block.first; i < block.last; ++i) state.step(listing_.instructions[i], listing_.isa);
    for (const size_t next : block.next) {
      const bool changed = states_[next] ? states_[next]->meet(state) : true;
      if (!states_[next]) states_[next] = state;
      if (changed && !waits[next]) waits[next] = true, waiting.push_back(next);
    }
  }
}

std::vector<LaneValuePtr> Flow::addresses() const {
  std::vector<LaneValuePtr> all(listing_.instructions.size());
  for (size_t b = 0; b < blocks_.size() && !given_up_; ++b) {
    if (!states_[b]) continue;
    LaneState state = *states_[b];
    for (size_t i = blocks_[b].first; i < blocks_[b].last; ++i) {
      const InstructionOperand& address = listing_.instructions[i].instruction.sources[0];
      if (is_address(listing_.instructions[i]) && address.kind == OperandKind::vgpr)
        all[i] = state.vector(address.number);
      state.step(listing_.instructions[i], listing_.isa);
    }
  }
  return all;
}

}  // namespace

std::vector<LaneValuePtr> lane_addresses(const Listing& listing, const std::vector<Block>& blocks) {
  return Flow(listing, blocks).addresses();
}

}  // namespace rung::amdgpu
