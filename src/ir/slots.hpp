// The operands of an op by name: which of them it has, and where each stands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace rung {

// In the order that operands stand in. What each holds, and what is done with it: the op, in ir/op.hpp.
enum class LinearSlot : uint8_t { x, w, bias, residual, cos, sin, norm_weight, squares };
enum class AttentionSlot : uint8_t { q, mask };  // keys and values of the segments follow
enum class LayerNormSlot : uint8_t { x, residual, weight, bias };

// `always`: the slots that every such op has. Text: bias+residual, the others.
template <class Slot, Slot... always>
class Slots {
 public:
  constexpr Slots(std::initializer_list<Slot> others = {}) {
    for (Slot slot : others) add(slot);
  }
  constexpr void add(Slot slot) { bits_ |= bit(slot); }
  constexpr bool has(Slot slot) const { return (bits_ & bit(slot)) != 0; }
  static constexpr bool always_has(Slot slot) { return Slots().has(slot); }
  constexpr bool within(const Slots& known) const { return (bits_ & ~known.bits_) == 0; }
  constexpr size_t size() const { return static_cast<size_t>(std::popcount(bits_)); }
  // Has it that slot or a later one, of those that not every such op has?
  constexpr bool has_from(Slot slot) const { return ((bits_ ^ Slots().bits_) & ~(bit(slot) - 1)) != 0; }
  // How many of them come before that slot: where its operand stands, or would stand.
  constexpr size_t before(Slot slot) const { return static_cast<size_t>(std::popcount(bits_ & (bit(slot) - 1))); }
  // Where the slot's operand stands; -1: absent.
  constexpr int at(Slot slot) const { return has(slot) ? static_cast<int>(before(slot)) : -1; }
  // Its entry in a list that has one for each operand: types, values, nodes, addresses; null: absent.
  template <class List>
  auto find(List&& list, Slot slot) const -> decltype(&list[0]) {
    return has(slot) ? &list[before(slot)] : nullptr;
  }
  // Makes `operand` that of the slot, which it may have had before or not.
  template <class List, class Operand>
  void put(List& list, Slot slot, Operand operand) {
    const size_t at = before(slot);
    if (!has(slot)) list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), operand);
    list[at] = operand, add(slot);
  }
  friend bool operator==(const Slots&, const Slots&) = default;

 private:
  static constexpr uint32_t bit(Slot slot) { return uint32_t{1} << static_cast<unsigned>(slot); }
  uint32_t bits_ = (bit(always) | ...);
};

using LinearSlots = Slots<LinearSlot, LinearSlot::x, LinearSlot::w>;
using AttentionSlots = Slots<AttentionSlot, AttentionSlot::q>;
using LayerNormSlots = Slots<LayerNormSlot, LayerNormSlot::x, LayerNormSlot::weight, LayerNormSlot::bias>;

}  // namespace rung
