// Which bytes are left out between a rounding and what computes with the rounded floats.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::keep_bytes_wide;

// round(x / 0.5) + zero within the bounds, and `nan` for NaN.
std::string steps_of(const char* zero, const char* least, const char* most, const char* nan) {
  return fmt::format(
      "a = add(div(x:f32[3,8], {{0.5}}), {{12582912}})\nb = sub(a, {{12582912}})\n"
      "c = min(max(add(b, {{{}}}), {{{}}}), {{{}}})\nd = select(eq(c, c), c, {{{}}})\n",
      zero, least, most, nan);
}
std::string with_literals(std::string text) {
  std::string head;
  int count = 0;
  for (size_t at; (at = text.find('{')) != std::string::npos;) {
    const size_t end = text.find('}', at);
    const std::string name = fmt::format("n{}", count++);
    head += fmt::format("{}: f32[] = constant(values=[{}])\n", name, text.substr(at + 1, end - at - 1));
    text.replace(at, end - at + 1, name);
  }
  return head + text;
}

TEST(KeepBytesWide, RoundedNumbersOfTheTypeStayFloats) {
  for (const auto& [bounds, type] :
       {std::pair(steps_of("3", "0", "255", "0"), "u8"), std::pair(steps_of("0", "-128", "127", "-128"), "i8"),
        std::pair(steps_of("-5", "-127", "127", "-127"), "i8")}) {
    const Graph before = graph_of(with_literals(bounds) + fmt::format("y = cast(cast(d, to={}), to=f32)", type));
    const Graph after = run_pass(keep_bytes_wide, before).graph;
    EXPECT_EQ(count_ops(after, "cast"), 0u) << type;
    expect_same_values(before, after, 0);
  }
}
TEST(KeepBytesWide, KeepsBytesThatOthersRead) {
  expect_unchanged(keep_bytes_wide, with_literals(steps_of("3", "0", "255", "0")) +
                                        "e = cast(d, to=u8)\ny = cast(e, to=f32)\nreturn y, e");
}
TEST(KeepBytesWide, KeepsWhatTheTypeWouldChange) {
  const auto keeps = [](const std::string& text) { expect_unchanged(keep_bytes_wide, with_literals(text)); };
  const std::string back = "y = cast(cast(d, to=u8), to=f32)";
  keeps(steps_of("3", "0", "256", "0") + back);
  keeps(steps_of("3", "-1", "255", "0") + back);
  keeps(steps_of("3", "0", "255", "300") + back);
  keeps(steps_of("0.5", "0", "255", "0") + back);  // no whole numbers
  keeps("c = min(max(x:f32[3,8], {0}), {255})\nd = select(eq(c, c), c, {0})\n" + back);
  keeps(steps_of("3", "0", "255", "0") + "y = cast(cast(c, to=u8), to=f32)");  // NaN
}
// A value that is added to itself 60 times in a row is a sum of 2^60 terms.
TEST(KeepBytesWide, LooksThroughFewSums) {
  std::string text = "a = add(x:f32[3,8], {12582912})\ns0 = sub(a, {12582912})\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("s{} = add(s{}, s{})\n", i + 1, i, i);
  text += "c = min(max(s60, {0}), {255})\nd = select(eq(c, c), c, {0})\ny = cast(cast(d, to=u8), to=f32)";
  EXPECT_EQ(count_ops(run_pass(keep_bytes_wide, graph_of(with_literals(text))).graph, "cast"), 2u);
}

}  // namespace
}  // namespace rung::test
