// The canonical forms' receipt: their gain over what the author wrote, which no rung takes the credit of.
// SPDX-License-Identifier: Apache-2.0
#include "scripted_climb.hpp"

namespace rung {
namespace {

using scripted::right;

// y = exp(softmax(x)) + neg(softmax(x)), with softmax twice as its author wrote it: 2.7 ms, and 1.7 ms with one.
class CanonicalReceipt : public ScriptedClimb {
 protected:
  CanonicalReceipt() {
    rows.add("binary", {{"binary_plain", right<100>}});
    write("s = softmax(x)\nt = softmax(x)\ne = exp(s)\nn = neg(t)\ny = add(e, n)");
  }
  void write(const std::string& ops) {
    subject.model.graph = subject.reference = graph_of("x: f32[2,8] = input()\n" + ops + "\nreturn y=y");
  }
};

TEST_F(CanonicalReceipt, HasTheGainOverWhatTheAuthorWrote) {
  set_kernels({{"softmax_plain", right<1000>}});
  const ClimbOutcome outcome = climbed();
  ASSERT_FALSE(outcome.result.rungs.empty());
  const Receipt& receipt = outcome.result.rungs.front();
  EXPECT_EQ(receipt.name, "canonical");
  EXPECT_NEAR(outcome.result.baseline_ms, 2.7, 1e-9);
  EXPECT_NEAR(receipt.before_ms, 2.7, 1e-9);
  EXPECT_NEAR(receipt.ms, 1.7, 1e-9);
  EXPECT_NEAR(receipt.ratio, 2.7 / 1.7, 1e-9);
  EXPECT_EQ(receipt.kernels, 4);
  EXPECT_EQ(receipt.reason, "1.59 x faster; every plan below has them");
  EXPECT_THAT(receipt.notes, ::testing::ElementsAre("cse: 6 -> 5 nodes", "cse: merged 1 equal value"));
}

// Without the rung, one pointwise launch of 0.2 ms is three of 0.7; softmax runs once in both.
TEST_F(CanonicalReceipt, LeavesRungsTheirOwnGainAlone) {
  set_kernels({{"softmax_plain", right<1000>}});
  const Receipt without = receipt_of(climbed(), "without fusion");
  EXPECT_NEAR(without.before_ms, 1.2, 1e-9);
  EXPECT_NEAR(without.ratio, 1.2 / 1.7, 1e-9);
}

TEST_F(CanonicalReceipt, SaysWhereTheyChangeNothing) {
  set_kernels({{"softmax_plain", right<1000>}});
  write("s = softmax(x)\ne = exp(s)\ny = neg(e)");
  const Receipt receipt = receipt_of(climbed(), "canonical");
  EXPECT_EQ(receipt.ratio, 1);
  EXPECT_EQ(receipt.pairs, 0);
  EXPECT_NEAR(receipt.ms, 1.6, 1e-9);
  EXPECT_EQ(receipt.reason, "changes nothing here");
}

TEST_F(CanonicalReceipt, SaysThatNoTimeIsLeft) {
  set_kernels({{"softmax_plain", right<1'300'000>}});
  options.budget_s = 1;
  const ClimbOutcome outcome = climbed();
  const Receipt receipt = receipt_of(outcome, "canonical");
  EXPECT_FALSE(was_tried(receipt)) << receipt.reason;
  EXPECT_EQ(receipt.pairs, 0);
  EXPECT_EQ(outcome.plan->steps.size(), 2u) << "the default plan has them nevertheless";
}

}  // namespace
}  // namespace rung
