// The operands of a linear by name.
// SPDX-License-Identifier: Apache-2.0
#include "ir/slots.hpp"

#include <gtest/gtest.h>

#include "ir/op.hpp"

namespace rung {
namespace {

TEST(LinearSlots, StandInOneOrderWhicheverAreThere) {
  const Linear few{.slots = {LinearSlot::squares, LinearSlot::residual}};
  EXPECT_EQ(few.slots.at(LinearSlot::x), 0);
  EXPECT_EQ(few.slots.at(LinearSlot::w), 1);
  EXPECT_EQ(few.slots.at(LinearSlot::bias), -1);
  EXPECT_EQ(few.slots.at(LinearSlot::residual), 2);
  EXPECT_EQ(few.slots.at(LinearSlot::squares), 3);
  EXPECT_EQ(few.slots.size(), 4u);
  EXPECT_EQ(LinearSlots().size(), 2u);
}

TEST(LinearSlots, FindOperandsInAnyListOfThem) {
  const Linear op{.slots = {LinearSlot::residual}};
  const std::vector<int> values{10, 11, 12};
  EXPECT_EQ(op.slots.find(values, LinearSlot::residual), &values[2]);
  EXPECT_EQ(op.slots.find(values.data(), LinearSlot::x), &values[0]);
  EXPECT_EQ(op.slots.find(values, LinearSlot::bias), nullptr);
}

TEST(LinearSlots, TakeAnOperandWhereItBelongs) {
  Linear op;
  std::vector<int> values{10, 11};
  op.slots.put(values, LinearSlot::residual, 13);
  op.slots.put(values, LinearSlot::bias, 12);
  EXPECT_EQ(values, (std::vector<int>{10, 11, 12, 13}));
  op.slots.put(values, LinearSlot::bias, 22);
  op.slots.put(values, LinearSlot::x, 20);
  EXPECT_EQ(values, (std::vector<int>{20, 11, 22, 13}));
  EXPECT_TRUE((op == Linear{.slots = {LinearSlot::bias, LinearSlot::residual}}));
}

TEST(LinearSlots, DistinguishPlainFromExtendedLinears) {
  const auto with = [](LinearSlot slot) { return Linear{.slots = {slot}}; };
  EXPECT_TRUE(with(LinearSlot::bias).is_plain());
  EXPECT_FALSE(with(LinearSlot::residual).is_plain());
  EXPECT_FALSE(with(LinearSlot::residual).is_extended());
  for (LinearSlot slot : {LinearSlot::cos, LinearSlot::sin, LinearSlot::norm_weight, LinearSlot::squares}) {
    EXPECT_TRUE(with(slot).is_extended()) << name_of(slot);
    EXPECT_FALSE(with(slot).is_plain()) << name_of(slot);
  }
  EXPECT_FALSE(Linear{.epilogue = {.gated = true}}.is_plain());
  EXPECT_FALSE(Linear{.epilogue = {.activation = Activation::relu}}.is_plain());
}

}  // namespace
}  // namespace rung
