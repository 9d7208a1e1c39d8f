// simplify_indices: guards and look-ups that ranges settle, and those that stay.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::simplify_indices;

// Positions as RoBERTa counts them: those of padding are 1, others are 2 and up.
constexpr const char* kPositions =
    "one: i64[] = constant(values=[1])\nzero: i64[] = constant(values=[0])\n"
    "kept = cast(ne(ids:i64[1,5], one), to=i32)\n"
    "positions = add(cast(mul(cast(cumsum(kept, axis=1), to=i32), kept), to=i64), one)\n";
std::string with_positions(const std::string& rest) { return kPositions + rest; }

constexpr const char* kCounted =
    "add(cast(mul(cast(cumsum(cast(ne(ids, 1), to=i32), axis=1), to=i32), cast(ne(ids, 1), to=i32)), to=i64), 1)";

TEST(SimplifyIndices, DropsTheGuardOfPositions) {
  expect_rewrite(simplify_indices,
                 with_positions("n: i64[] = constant(values=[9])\n"
                                "y = select(lt(positions, zero), add(positions, n), positions)"),
                 std::string("y = ") + kCounted);
}
TEST(SimplifyIndices, KeepsTheGuardOfWhatMayBeNegative) {
  const std::string guard = "y = select(lt(p, zero), add(p, n), p)";
  for (const char* p : {"p = sub(positions, two)\n", "p = mul(positions, ids)\n", "p = cumsum(ids, axis=1)\n",
                        "p = mul(positions, minus)\n"})
    expect_unchanged(simplify_indices,
                     with_positions("n: i64[] = constant(values=[9])\ntwo: i64[] = constant(values=[2])\n"
                                    "minus: i64[] = constant(values=[-1])\n" +
                                    std::string(p) + guard));
}
TEST(SimplifyIndices, KeepsTheGuardOfWhatMayOverflow) {
  expect_unchanged(simplify_indices,
                   with_positions("big: i64[] = constant(values=[2000000000])\np = mul(positions, big)\n"
                                  "y = select(lt(p, zero), add(p, one), p)"));
}
TEST(SimplifyIndices, KeepsOtherChoices) {
  expect_unchanged(simplify_indices, with_positions("y = select(lt(positions, one), one, positions)"));
  expect_unchanged(simplify_indices, with_positions("y = select(lt(positions, zero), positions, ids)"));
}

constexpr const char* kTables =
    "types: i64[9] = constant(values=[0,0,0,0,0,0,0,0,0])\ntable: f32[2,4] = constant()\n"
    "places: f32[9,4] = constant()\nshort: f32[8,4] = constant()\nlong: f32[10,4] = constant()\n";

TEST(SimplifyIndices, FindsTheRowThatAllPositionsHave) {
  const std::string row = "y = add(gather(table, gather(types, p:i64[1,5])), gather(places, p))";
  expect_rewrite(simplify_indices, kTables + row,
                 "y = add(broadcast(reshape(slice(table, end=1), shape=[4]), shape=[1,5,4]), gather(places, p))");
}
TEST(SimplifyIndices, KeepsALookUpThatAloneChecksIndices) {
  expect_unchanged(simplify_indices, kTables + std::string("y = gather(types, p:i64[1,5])"));
  expect_unchanged(simplify_indices,
                   kTables + std::string("y = gather(types, p:i64[1,5])\nz = gather(long, p)\nreturn y, z"));
}
TEST(SimplifyIndices, KeepsRowsBeyondTheTable) {
  for (const char* number : {"2", "-1"})
    expect_unchanged(simplify_indices, kTables + std::string("n: i64[] = constant(values=[") + number +
                                           "])\ny = gather(table, broadcast(n, shape=[1,5]))");
}

}  // namespace
}  // namespace rung::test
