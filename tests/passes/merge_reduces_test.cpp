// Reductions of neighbouring axes become one; others stay.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::merge_reduces;

TEST(MergeReduces, MeansOfRowsAndColumnsAreOne) {
  expect_rewrite(merge_reduces, "y = reduce(reduce(x:f32[2,4,5,3], axis=2, kind=mean), kind=mean, axis=1)",
                 "y = reduce(reshape(x, shape=[2,20,3]), kind=mean, axis=1)");
  expect_rewrite(
      merge_reduces,
      "y = reduce(reduce(x:f32[2,4,5,3], axis=1, kind=mean, keep_dim=true), axis=2, kind=mean, keep_dim=true)",
      "y = reshape(reduce(reshape(x, shape=[2,20,3]), kind=mean, axis=1), shape=[2,1,1,3])");
}
TEST(MergeReduces, KeepsTheMeaningOfEveryOrderAndKind) {
  struct Axes {
    const char *inner, *outer;
  };
  for (const char* kind : {"sum", "mean", "max"}) {
    for (const Axes& axes : {Axes{"0", "0"}, {"1", "0"}, {"1", "1"}, {"2", "1"}, {"2", "2"}, {"-1", "-1"}})
      expect_equivalent(merge_reduces,
                        fmt::format("y = reduce(reduce(x:f32[2,4,5,3], axis={0}, kind={2}), axis={1}, kind={2})",
                                    axes.inner, axes.outer, kind));
    for (const Axes& axes : {Axes{"0", "1"}, {"1", "0"}, {"1", "2"}, {"2", "1"}, {"-1", "2"}})
      expect_equivalent(
          merge_reduces,
          fmt::format("y = reduce(reduce(x:f32[2,4,5,3], axis={0}, kind={2}, keep_dim=true), axis={1}, kind={2})",
                      axes.inner, axes.outer, kind));
  }
}
TEST(MergeReduces, ThreeAxesMergeOneAfterAnother) {
  EXPECT_EQ(
      expression(run_pass(merge_reduces, graph_of("y = reduce(reduce(reduce(x:f32[2,4,5,3], axis=3), axis=2), axis=1)"))
                     .graph),
      "y = reduce(reshape(x, shape=[2,60]), axis=1)");
}
TEST(MergeReduces, KeepsWhatWouldChangeOrCost) {
  for (const char* twin :
       {"y = reduce(reduce(x:f32[2,4,5,3], axis=3, kind=mean), kind=mean, axis=1)",  // not neighbours
        "y = reduce(reduce(x:f32[2,4,5,3], axis=2, kind=max), kind=mean, axis=1)",   // two kinds
        "y = reduce(reduce(x:f32[2,64,64,3], axis=2), axis=1)",                      // long lines
        "r = reduce(x:f32[2,4,5,3], axis=2)\ny = reduce(r, axis=1)\nreturn y, r",    // read by others
        "y = reduce(reduce(transpose(x:f32[2,3,4,5], permutation=[0,2,3,1]), axis=2), axis=1)"})
    expect_unchanged(merge_reduces, twin);
}

}  // namespace
}  // namespace rung::test
