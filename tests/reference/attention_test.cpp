// Attention against the formula written as the plainest loops, over segments, masks and grouped heads.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reference/run.hpp"

namespace rung {
namespace {

double at(const Tensor& t, int64_t b, int64_t s, int64_t h, int64_t d) {
  const Shape& shape = t.shape();
  return t.as<float>()[static_cast<size_t>(((b * shape[1] + s) * shape[2] + h) * shape[3] + d)];
}

// Batch 2, 3 queries, 4 heads over 2 key heads of 5; segments of 2 and 3 keys.
struct Case {
  Tensor q = random({2, 3, 4, 5}, 1);
  Tensor k[2] = {random({2, 2, 2, 5}, 2), random({2, 3, 2, 5}, 3)};
  Tensor v[2] = {random({2, 2, 2, 5}, 4), random({2, 3, 2, 5}, 5)};
  Tensor mask = random({2, 1, 3, 5}, 6);
  Inputs inputs() const { return {{"q", q}, {"m", mask}, {"k0", k[0]}, {"v0", v[0]}, {"k1", k[1]}, {"v1", v[1]}}; }
  double key(int64_t b, int64_t j, int64_t g, int64_t d) const {
    return j < 2 ? at(k[0], b, j, g, d) : at(k[1], b, j - 2, g, d);
  }
  double value(int64_t b, int64_t j, int64_t g, int64_t d) const {
    return j < 2 ? at(v[0], b, j, g, d) : at(v[1], b, j - 2, g, d);
  }
};

struct Form {
  double scale = 1;
  bool masked = false;
  double softcap = 0;
};

double naive(const Case& c, const std::array<int64_t, 4>& where, const Form& form) {
  auto [b, s, h, d] = where;
  int64_t g = h / 2;
  double sum = 0, weighted = 0;
  for (int64_t j = 0; j < 5; ++j) {
    double score = 0;
    for (int64_t e = 0; e < 5; ++e) score += at(c.q, b, s, h, e) * c.key(b, j, g, e);
    score *= form.scale;
    if (form.softcap > 0) score = form.softcap * std::tanh(score / form.softcap);
    if (form.masked) score += at(c.mask, b, 0, s, j);
    sum += std::exp(score);
    weighted += std::exp(score) * c.value(b, j, g, d);
  }
  return weighted / sum;
}

std::vector<double> naive_all(const Case& c, const Form& form) {
  std::vector<double> out;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t s = 0; s < 3; ++s)
      for (int64_t h = 0; h < 4; ++h)
        for (int64_t d = 0; d < 5; ++d) out.push_back(naive(c, {b, s, h, d}, form));
  return out;
}

TEST(AttentionReference, FollowsTheFormulaWithMasksSegmentsAndGroups) {
  Case c;
  Tensor y =
      run("attention(q:f32[2,3,4,5], m:f32[2,1,3,5], k0:f32[2,2,2,5], v0:f32[2,2,2,5], k1:f32[2,3,2,5], "
          "v1:f32[2,3,2,5], scale=0.5, slots=mask, segments=2)",
          c.inputs());
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4, 5}));
  expect_values(y, naive_all(c, {.scale = 0.5, .masked = true}));
}

TEST(AttentionReference, WorksWithoutAMask) {
  Case c;
  expect_values(run("attention(q:f32[2,3,4,5], k0:f32[2,2,2,5], v0:f32[2,2,2,5], k1:f32[2,3,2,5], v1:f32[2,3,2,5], "
                    "segments=2)",
                    c.inputs()),
                naive_all(c, {}));
}

TEST(AttentionReference, CapsScoresBeforeTheMask) {
  Case c;
  expect_values(run("attention(q:f32[2,3,4,5], m:f32[2,1,3,5], k0:f32[2,2,2,5], v0:f32[2,2,2,5], k1:f32[2,3,2,5], "
                    "v1:f32[2,3,2,5], scale=2, softcap=1.25, slots=mask, segments=2)",
                    c.inputs()),
                naive_all(c, {.scale = 2, .masked = true, .softcap = 1.25}));
}

TEST(AttentionReference, TakesJoinedKeysForOneSegment) {
  Case c;
  Tensor joined =
      run("attention(q:f32[2,3,4,5], concat(k0:f32[2,2,2,5], k1:f32[2,3,2,5], axis=1), "
          "concat(v0:f32[2,2,2,5], v1:f32[2,3,2,5], axis=1), scale=0.25)",
          c.inputs());
  expect_values(joined, naive_all(c, {.scale = 0.25}));
}

TEST(AttentionReference, GivesAMaskedKeyNoWeight) {
  Inputs inputs{{"q", f32({1, 1, 1, 1}, {1})},
                {"m", f32({2}, {0, -3.4028235e38f})},
                {"k", f32({1, 2, 1, 1}, {1, 50})},
                {"v", f32({1, 2, 1, 1}, {7, 1000})}};
  expect_values(run("attention(q:f32[1,1,1,1], m:f32[2], k:f32[1,2,1,1], v:f32[1,2,1,1], slots=mask)", inputs), {7}, 0);
}

// All scores are 0: a result is the mean of the values 1, 2, 4, 8, 16 of the keys that the query sees.
TEST(AttentionReference, SeesTheKeysOfItsSpan) {
  const auto means = [](const std::string& span) {
    const Inputs inputs{{"q", f32({1, 4, 1, 1}, {0, 0, 0, 0})},
                        {"k", f32({1, 5, 1, 1}, {0, 0, 0, 0, 0})},
                        {"v", f32({1, 5, 1, 1}, {1, 2, 4, 8, 16})}};
    return values_of(run("attention(q:f32[1,4,1,1], k:f32[1,5,1,1], v:f32[1,5,1,1], " + span + ")", inputs));
  };
  using testing::ElementsAre;
  const auto near = [](double x) { return testing::DoubleNear(x, 1e-6); };
  EXPECT_THAT(means("after=0"), ElementsAre(1, 1.5, near(7 / 3.0), 3.75));
  EXPECT_THAT(means("after=1"), ElementsAre(1.5, near(7 / 3.0), 3.75, near(31 / 5.0)));
  EXPECT_THAT(means("before=1, after=0"), ElementsAre(1, 1.5, 3, 6));
  EXPECT_THAT(means("before=1, after=1"), ElementsAre(1.5, near(7 / 3.0), near(14 / 3.0), near(28 / 3.0)));
  EXPECT_THAT(means("before=0, after=0, prefix=2"), ElementsAre(1.5, 1.5, near(7 / 3.0), near(11 / 3.0)));
  EXPECT_THAT(means("before=-2, after=3"), ElementsAre(6, 12, 16, 0));
  EXPECT_THAT(means("after=-2"), ElementsAre(0, 0, 1, 1.5));
}

// All scores are 0, as above; the cache has places for five keys.
TEST(AttentionReference, SeesWhatACacheHolds) {
  const std::string head = "attention(q:f32[1,2,1,1], length:i64[1], k:f32[1,5,1,1], v:f32[1,5,1,1], slots=length";
  const auto inputs = [](int64_t length) {
    return Inputs{{"q", f32({1, 2, 1, 1}, {0, 0})},
                  {"length", i64({1}, {length})},
                  {"k", f32({1, 5, 1, 1}, {0, 0, 0, 0, 0})},
                  {"v", f32({1, 5, 1, 1}, {1, 2, 4, 8, 16})}};
  };
  const auto means = [&](int64_t length, const std::string& span) {
    return values_of(run(head + span + ")", inputs(length)));
  };
  using testing::ElementsAre;
  const auto near = [](double x) { return testing::DoubleNear(x, 1e-6); };
  EXPECT_THAT(means(2, ", after=0"), ElementsAre(1, 1.5));
  EXPECT_THAT(means(3, ", after=0"), ElementsAre(1.5, near(7 / 3.0)));
  EXPECT_THAT(means(3, ""), ElementsAre(near(7 / 3.0), near(7 / 3.0)));
  EXPECT_THAT(means(5, ", after=0"), ElementsAre(3.75, near(6.2)));
  EXPECT_THAT(means(7, ", after=0"), ElementsAre(7.25, near(6.2))) << "places 5 and 6 took those of 0 and 1";
  EXPECT_THAT(means(7, ", before=1, after=0"), ElementsAre(8.5, 1.5));
  EXPECT_THAT(means(12, ", before=2, after=0, prefix=8"), ElementsAre(near(29 / 4.0), near(23 / 4.0)))
      << "slots 0 and 1 hold places 10 and 11, 2 to 4 hold 7 to 9, and 7 is of the prefix";
  EXPECT_THAT(error_of(head + ")", inputs(1)), testing::HasSubstr("got a length of 1, wanted 2 queries at least"));
}

TEST(AttentionReference, RoundsItsResultToTheOperandsType) {
  Inputs inputs{{"q", to_bf16(f32({1, 1, 1, 1}, {0}))},
                {"k", to_bf16(f32({1, 2, 1, 1}, {0, 0}))},
                {"v", to_bf16(f32({1, 2, 1, 1}, {1, 1.0078125f}))}};
  Tensor y = run("attention(q:bf16[1,1,1,1], k:bf16[1,2,1,1], v:bf16[1,2,1,1])", inputs);
  EXPECT_EQ(y.dtype(), DType::bf16);
  expect_values(y, {1}, 0);  // the mean is half way; the even neighbour wins
}

// All scores are 0: each result is the factor times the mean of two values.
TEST(AttentionReference, RoundsAndLimitsAScaledResultIn8Bits) {
  const Inputs inputs{{"q", f32({1, 1, 1, 6}, {0, 0, 0, 0, 0, 0})},
                      {"k", f32({1, 2, 1, 6}, std::vector<float>(12, 0))},
                      {"v", f32({1, 2, 1, 6}, {1, 3, -400, 400, NAN, 0, 0, 4, -400, 400, 0, 0})}};
  const auto values = [&](const std::string& fields) {
    return values_of(run("attention(q:f32[1,1,1,6], k:f32[1,2,1,6], v:f32[1,2,1,6], " + fields + ")", inputs));
  };
  using testing::ElementsAre, testing::IsNan;
  EXPECT_THAT(values("factor=3"), ElementsAre(1.5, 10.5, -1200, 1200, IsNan(), 0));
  EXPECT_THAT(values("factor=3, out=i8"), ElementsAre(2, 10, -127, 127, 0, 0)) << "halves go to the even neighbour";
  EXPECT_THAT(values("factor=3, out=f8e4m3fn"), ElementsAre(1.5, 10, -448, 448, IsNan(), 0));
  EXPECT_THAT(values("factor=3, out=f8e4m3fnuz"), ElementsAre(1.5, 10, -240, 240, IsNan(), 0));
  EXPECT_THAT(values("factor=-0.25, out=i8"), ElementsAre(0, -1, 100, -100, 0, 0));
}

TEST(AttentionReference, ReadsTheMaskOfEachHeadAndQuery) {
  // All scores are 0; each (head, query) sees one of two keys.
  const float hidden = -1e30f;
  Inputs inputs{{"q", f32({1, 2, 2, 1}, {0, 0, 0, 0})},
                {"m", f32({1, 2, 2, 2}, {0, hidden, 0, hidden, 0, hidden, hidden, 0})},
                {"k", f32({1, 2, 2, 1}, {1, 1, 1, 1})},
                {"v", f32({1, 2, 2, 1}, {1, 10, 2, 20})}};  // keys 1 and 2 of head 0, 10 and 20 of head 1
  expect_values(run("attention(q:f32[1,2,2,1], m:f32[1,2,2,2], k:f32[1,2,2,1], v:f32[1,2,2,1], slots=mask)", inputs),
                {1, 10, 1, 20});
}

// Of two queries the first has no key; a softmax of the same scores has no number there.
TEST(AttentionReference, GivesZerosWhereMinusInfinityLeavesNoKey) {
  Inputs inputs{{"q", f32({1, 2, 1, 1}, {1, 0})},
                {"m", f32({2, 2}, {-INFINITY, -INFINITY, 0, -INFINITY})},
                {"k", f32({1, 2, 1, 1}, {1, 5})},
                {"v", f32({1, 2, 1, 1}, {7, 9})}};
  expect_values(run("attention(q:f32[1,2,1,1], m:f32[2,2], k:f32[1,2,1,1], v:f32[1,2,1,1], slots=mask)", inputs),
                {0, 7}, 0);
  EXPECT_THAT(values_of(run("softmax(m:f32[2,2])", inputs)),
              testing::ElementsAre(testing::IsNan(), testing::IsNan(), 1.0, 0.0));
}

TEST(AttentionReference, KeepsNaNsThatItIsGiven) {
  Inputs inputs{{"q", f32({1, 1, 1, 1}, {NAN})},
                {"m", f32({2}, {-INFINITY, -INFINITY})},
                {"k", f32({1, 2, 1, 1}, {1, 5})},
                {"v", f32({1, 2, 1, 1}, {7, 9})}};
  EXPECT_THAT(values_of(run("attention(q:f32[1,1,1,1], m:f32[2], k:f32[1,2,1,1], v:f32[1,2,1,1], slots=mask)", inputs)),
              testing::ElementsAre(testing::IsNan()));
}

TEST(AttentionReference, SpreadsWeightsEvenlyWhereAllKeysAreMasked) {
  Inputs inputs{{"q", f32({1, 1, 1, 1}, {1})},
                {"m", f32({2}, {-3.4028235e38f, -3.4028235e38f})},
                {"k", f32({1, 2, 1, 1}, {1, 5})},
                {"v", f32({1, 2, 1, 1}, {7, 9})}};
  expect_values(run("attention(q:f32[1,1,1,1], m:f32[2], k:f32[1,2,1,1], v:f32[1,2,1,1], slots=mask)", inputs), {8});
}

}  // namespace
}  // namespace rung
