// Scopes and the entries of a precision, and what they come to for a label.
// SPDX-License-Identifier: Apache-2.0
#include "ir/precision.hpp"

#include <gtest/gtest.h>

#include "ir/scope.hpp"

namespace rung {
namespace {

constexpr DType kNarrow = DType::bf16, kWide = DType::f32;

TEST(Scope, CoversLabelsThatBeginWithIt) {
  EXPECT_TRUE(covers("encoder.layer.1", "encoder.layer.1"));
  EXPECT_TRUE(covers("encoder.layer.1", "encoder.layer.1.output.dense"));
  EXPECT_FALSE(covers("encoder.layer.1", "encoder.layer.11.output"));
  EXPECT_FALSE(covers("encoder.layer.1", "encoder.layer"));
}

TEST(Scope, TakesAStarForOneWord) {
  EXPECT_TRUE(covers("encoder.*.1.output", "encoder.layer.1.output.dense"));
  EXPECT_FALSE(covers("encoder.*.output", "encoder.layer.1.output"));
}

TEST(Precision, IsF32WhereNoEntrySaysAnything) {
  EXPECT_EQ(precision_at({}, "a"), LabelPrecision());
  EXPECT_EQ(precision_at({{.labels = "a", .products = kNarrow}}, "b"), LabelPrecision());
}

TEST(Precision, OfAStarIsThatOfEveryLabel) {
  for (const char* label : {"", "a", "a.b.c"})
    EXPECT_EQ(precision_at(everywhere(kNarrow), label), (LabelPrecision{kNarrow, kNarrow, kNarrow})) << label;
}

TEST(Precision, TakesEachFieldFromItsLastEntry) {
  const Precision precision{{.labels = "*", .products = kNarrow, .values = kNarrow},
                            {.labels = "a", .products = kWide},
                            {.labels = "a.b", .products = kNarrow, .attention = kNarrow}};
  EXPECT_EQ(precision_at(precision, "c"), (LabelPrecision{kNarrow, kWide, kNarrow}));
  EXPECT_EQ(precision_at(precision, "a"), (LabelPrecision{kWide, kWide, kNarrow}));
  EXPECT_EQ(precision_at(precision, "a.b.c"), (LabelPrecision{kNarrow, kNarrow, kNarrow}));
}

TEST(Precision, IsAsNarrowAsItsNarrowestField) {
  EXPECT_EQ(narrowest({}), kWide);
  EXPECT_EQ(narrowest({{.labels = "a", .products = kWide}}), kWide);
  EXPECT_EQ(narrowest({{.labels = "a", .products = kWide}, {.labels = "b", .attention = kNarrow}}), kNarrow);
  EXPECT_EQ(narrowest(everywhere(kNarrow)), kNarrow);
}

TEST(Precision, OfF32EverywhereHasNoEntry) { EXPECT_TRUE(everywhere(kWide).empty()); }

}  // namespace
}  // namespace rung
