// The operands of a linear by name: which of them it has, and where each stands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace rung {

// In the order that operands stand in; x and w are always there. What each holds, and what is done with it: Linear.
enum class LinearSlot : uint8_t { x, w, bias, residual, cos, sin, norm_weight, squares };

// Text: bias+residual, those beside x and w.
class LinearSlots {
 public:
  constexpr LinearSlots(std::initializer_list<LinearSlot> beside_x_and_w = {}) {
    for (LinearSlot slot : beside_x_and_w) add(slot);
  }
  constexpr void add(LinearSlot slot) { bits_ |= bit(slot); }
  constexpr bool has(LinearSlot slot) const { return (bits_ & bit(slot)) != 0; }
  constexpr bool within(const LinearSlots& known) const { return (bits_ & ~known.bits_) == 0; }
  constexpr size_t size() const { return static_cast<size_t>(std::popcount(bits_)); }
  // How many of them come before that slot: where its operand stands, or would stand.
  constexpr size_t before(LinearSlot slot) const { return static_cast<size_t>(std::popcount(bits_ & (bit(slot) - 1))); }
  friend bool operator==(const LinearSlots&, const LinearSlots&) = default;

 private:
  static constexpr uint32_t bit(LinearSlot slot) { return uint32_t{1} << static_cast<unsigned>(slot); }
  uint32_t bits_ = bit(LinearSlot::x) | bit(LinearSlot::w);
};

}  // namespace rung
