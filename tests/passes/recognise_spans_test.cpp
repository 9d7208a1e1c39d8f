// Masks that say what the places of queries and keys say already, and those that say more.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::recognise_spans;
using Sees = std::function<bool(int64_t query, int64_t key)>;

constexpr int64_t kQueries = 6, kKeys = 8;

bool causal(int64_t i, int64_t j) { return j <= i; }
bool all(int64_t, int64_t) { return true; }

// "name: f32[6,8] = constant(values=[...])" with one of two words for each query and key.
std::string table(const std::string& type, const Sees& sees, const char* seen, const char* hidden) {
  std::string values;
  for (int64_t i = 0; i < kQueries; ++i)
    for (int64_t j = 0; j < kKeys; ++j)
      values += fmt::format("{}{}", values.empty() ? "" : ",", sees(i, j) ? seen : hidden);
  return fmt::format("table: {} = constant(values=[{}])\n", type, values);
}
std::string numbers(const Sees& sees, const char* hidden = "-inf", const char* seen = "0") {
  return table("f32[6,8]", sees, seen, hidden);
}
std::string bools(const Sees& sees) { return table("bool[1,1,6,8]", sees, "1", "0"); }

constexpr const char* kNumbers = "none: f32[] = constant(values=[-inf])\nzero: f32[] = constant(values=[0])\n";
constexpr const char* kPadding = "padding: bool[1,1,1,8] = input()\n";

std::string attends(const std::string& mask) {
  return "y = attention(q:f32[1,6,2,4], " + mask + ", k:f32[1,8,2,4], v:f32[1,8,2,4], slots=mask, scale=0.5)";
}
std::string reads_all_but(const std::string& span) { return "y = attention(q, k, v, scale=0.5" + span + ")"; }

TEST(RecogniseSpans, OfTablesOfPlaces) {
  const auto expect = [](const Sees& sees, const std::string& span) {
    expect_rewrite(recognise_spans, numbers(sees) + attends("table"), reads_all_but(span));
  };
  expect(all, "");
  expect(causal, ", after=0");
  expect([](int64_t i, int64_t j) { return j <= i + 2; }, ", after=2");  // two keys of a cache before
  expect([](int64_t i, int64_t j) { return j <= i && j > i - 3; }, ", before=2, after=0");
  expect([](int64_t i, int64_t j) { return std::abs(i - j) <= 1; }, ", before=1, after=1");
  expect([](int64_t i, int64_t j) { return j < 4 || j <= i; }, ", after=0, prefix=4");
  expect([](int64_t i, int64_t j) { return j < 2 || (j <= i && j > i - 2); }, ", before=1, after=0, prefix=2");
  expect([](int64_t i, int64_t j) { return j <= i - 2; }, ", after=-2");
  expect([](int64_t i, int64_t j) { return j >= i + 1; }, ", before=-1");
}
TEST(RecogniseSpans, KeepsTablesThatAreNoSpan) {
  const auto expect_kept = [](const Sees& sees) {
    expect_unchanged(recognise_spans, numbers(sees) + attends("table"));
  };
  expect_kept([](int64_t i, int64_t j) { return j <= i && !(i == 4 && j == 2); });
  expect_kept([](int64_t i, int64_t j) { return j / 2 <= i / 2 && j / 2 >= i / 2; });  // blocks
  expect_kept([](int64_t i, int64_t j) { return j <= 2 * i; });
  expect_kept([](int64_t, int64_t j) { return j % 2 == 0; });
}
TEST(RecogniseSpans, KeepsTablesThatDifferByHead) {
  std::string both = table("f32[1,2,6,8]", causal, "0", "-inf");
  const std::string head = both.substr(both.find('[', both.find("values")) + 1), one = head.substr(0, head.find(']'));
  const auto of_heads = [&](const std::string& other) {
    return "table: f32[1,2,6,8] = constant(values=[" + one + "," + other + "])\n" + attends("table");
  };
  expect_rewrite(recognise_spans, of_heads(one), reads_all_but(", after=0"));
  std::string other = one;
  other.replace(other.find("-inf"), 4, "0");
  expect_unchanged(recognise_spans, of_heads(other));
}

// A query that sees no key weighs all by low numbers; -inf leaves it none.
TEST(RecogniseSpans, TakesLowNumbersWhereAKeyIsLeft) {
  expect_rewrite(recognise_spans, numbers(causal, "-3.4028235e+38") + attends("table"), reads_all_but(", after=0"));
  const auto later = [](int64_t i, int64_t j) { return j <= i - 1; };
  expect_rewrite(recognise_spans, numbers(later) + attends("table"), reads_all_but(", after=-1"));
  expect_unchanged(recognise_spans, numbers(later, "-3.4028235e+38") + attends("table"));
  expect_unchanged(recognise_spans, numbers(causal, "-10000") + attends("table"));
}
TEST(RecogniseSpans, KeepsNumbersBesideTheSpan) {
  const std::string biased = numbers(causal, "-inf", "0.5") + attends("table");
  expect_rewrite(recognise_spans, biased, "y = attention(q, table, k, v, slots=mask, scale=0.5, after=0)");
  expect_unchanged(recognise_spans, numbers(all, "-inf", "0.5") + attends("table"));
}

TEST(RecogniseSpans, LeavesTheAddedMask) {
  const char* after = "y = attention(q, bias, k, v, slots=mask, scale=0.5, after=0)";
  expect_rewrite(recognise_spans, numbers(causal) + attends("add(table, bias:f32[1,1,1,8])"), after);
  expect_rewrite(recognise_spans, numbers(causal) + attends("add(bias:f32[1,1,1,8], table)"), after);
  expect_unchanged(recognise_spans, numbers(causal, "-3.4028235e+38") + attends("add(table, bias:f32[1,1,1,8])"));
  expect_unchanged(recognise_spans, numbers(causal, "-inf", "0.5") + attends("add(table, bias:f32[1,1,1,8])"));
}
TEST(RecogniseSpans, LeavesThePaddingOfASelection) {
  const std::string head = kNumbers + bools(causal) + kPadding;
  const char* after = "y = attention(q, select(padding, 0, -inf), k, v, slots=mask, scale=0.5, after=0)";
  expect_rewrite(recognise_spans, head + attends("select(and(table, padding), zero, none)"), after);
  expect_rewrite(recognise_spans, head + attends("select(and(broadcast(padding, shape=[1,2,6,8]), table), zero, none)"),
                 after);
  expect_rewrite(recognise_spans,
                 kNumbers + bools([](int64_t i, int64_t j) { return !causal(i, j); }) + kPadding +
                     attends("select(or(padding, table), none, zero)"),
                 "y = attention(q, select(padding, -inf, 0), k, v, slots=mask, scale=0.5, after=0)");
  expect_rewrite(recognise_spans, kNumbers + bools(causal) + attends("select(table, bias:f32[1,2,6,8], none)"),
                 "y = attention(q, bias, k, v, slots=mask, scale=0.5, after=0)");
}
TEST(RecogniseSpans, KeepsSelectionsOfLowNumbers) {
  const std::string low = "low: f32[] = constant(values=[-3.4028235e+38])\nzero: f32[] = constant(values=[0])\n";
  expect_unchanged(recognise_spans, low + bools(causal) + kPadding + attends("select(and(table, padding), zero, low)"));
  expect_unchanged(recognise_spans,
                   kNumbers + bools(causal) + kPadding + attends("select(or(table, padding), zero, none)"));
  expect_unchanged(recognise_spans,
                   kNumbers + bools(causal) + kPadding + attends("select(and(table, padding), none, zero)"));
}

TEST(RecogniseSpans, LeavesPaddingOneRow) {
  const std::string head = kNumbers + std::string(kPadding);
  expect_rewrite(recognise_spans, head + attends("select(broadcast(padding, shape=[1,1,6,8]), zero, none)"),
                 "y = attention(q, select(padding, 0, -inf), k, v, slots=mask, scale=0.5)");
  expect_rewrite(recognise_spans,
                 head + "ones: bool[1,1,6,1] = constant(values=[1,1,1,1,1,1])\n" +
                     attends("select(and(ones, padding), zero, none)"),
                 "y = attention(q, select(padding, 0, -inf), k, v, slots=mask, scale=0.5)");
  expect_unchanged(recognise_spans, head + attends("select(padding, zero, none)"));
  expect_unchanged(recognise_spans, head + attends("select(padding, bias:f32[1,1,6,8], none)"));
  expect_unchanged(recognise_spans,
                   head + attends("select(and(rows:bool[1,1,6,1], broadcast(padding, shape=[1,1,6,8])), zero, none)"));
}

TEST(RecogniseSpans, SharesThePaddingOfLayers) {
  const std::string text = kNumbers + bools(causal) + kPadding + "m = select(and(table, padding), zero, none)\n" +
                           "x = attention(q:f32[1,6,2,4], m, k:f32[1,8,2,4], v:f32[1,8,2,4], slots=mask)\n"
                           "y = attention(x, m, k, v, slots=mask)";
  const PassRun run = run_pass(recognise_spans, graph_of(text));
  EXPECT_EQ(count_ops(run.graph, "select"), 1u);
  EXPECT_EQ(count_ops(run.graph, "and"), 0u);
  EXPECT_EQ(run.notes, std::vector<std::string>{"2 attentions read keys by their places, and no others"});
  expect_same_values(graph_of(text), run.graph);
}
TEST(RecogniseSpans, AsksForAKernel) {
  const Graph graph =
      graph_of(kNumbers + bools(causal) + kPadding + attends("select(and(table, padding), zero, none)"));
  const PassRun run =
      run_pass(recognise_spans, graph, [](const Op&, std::span<const Type>) { return reject("a span of keys"); });
  EXPECT_EQ(expression(run.graph), expression(graph));
}
TEST(RecogniseSpans, KeepsSpansThatAreThere) {
  expect_unchanged(recognise_spans, numbers(causal) +
                                        "y = attention(q:f32[1,6,2,4], table, k:f32[1,8,2,4], v:f32[1,8,2,4], "
                                        "slots=mask, before=1)");
}

}  // namespace
}  // namespace rung::test
