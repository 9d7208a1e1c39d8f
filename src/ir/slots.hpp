// The operands of an op by name: the ones it has, and the place of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace rung {

// The slots, in the order of the operands. ir/op.hpp says what each holds, and what the op does with it.
enum class LinearSlot : uint8_t {
  x,
  w,
  bias,
  residual,
  cos,
  sin,
  norm_weight,
  squares,
  scale,
  x_scale,
  group_scale,
  group_offset,
  x_outliers,
  w_outliers
};
enum class ConvSlot : uint8_t { x, w, bias, residual, scale };
enum class AttentionSlot : uint8_t { q, mask, length };  // keys and values of the segments follow
enum class LayerNormSlot : uint8_t { x, residual, weight, bias };
enum class SampleSlot : uint8_t { logits, settings, draw, bias, seen };

// The operands of one op. `always`: the slots that every such op has. Text: bias+residual, the others.
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
  // Returns whether it has that slot or a later one, among slots that not every such op has.
  constexpr bool has_from(Slot slot) const { return ((bits_ ^ Slots().bits_) & ~(bit(slot) - 1)) != 0; }
  // Returns the number of slots before that slot, which is the index of its operand, if it is there.
  constexpr size_t before(Slot slot) const { return static_cast<size_t>(std::popcount(bits_ & (bit(slot) - 1))); }
  // Returns the index of the slot's operand; -1: absent.
  constexpr int at(Slot slot) const { return has(slot) ? static_cast<int>(before(slot)) : -1; }
  // Returns the slot's entry in a list with one for each operand: types, values, nodes, addresses; null: absent.
  template <class List>
  auto find(List&& list, Slot slot) const -> decltype(&list[0]) {
    return has(slot) ? &list[before(slot)] : nullptr;
  }
  // Sets the slot's operand, whether the slot had one before or not.
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
using ConvSlots = Slots<ConvSlot, ConvSlot::x, ConvSlot::w>;
using AttentionSlots = Slots<AttentionSlot, AttentionSlot::q>;
using LayerNormSlots = Slots<LayerNormSlot, LayerNormSlot::x, LayerNormSlot::weight, LayerNormSlot::bias>;
using SampleSlots = Slots<SampleSlot, SampleSlot::logits, SampleSlot::settings, SampleSlot::draw>;

}  // namespace rung
