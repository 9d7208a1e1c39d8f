// The judge's recurrences, against steps worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "run.hpp"

namespace rung {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(RecurrenceReference, RnnAddsProductsWithItsState) {
  const Inputs inputs{{"x", f32({2, 1, 1}, {0.5, -1})}, {"w", f32({1, 1}, {2})}, {"h", f32({1, 1}, {0.25})}};
  const double first = std::tanh(0.5 + 2 * 0.25), second = std::tanh(-1 + 2 * first);
  expect_values(run("recurrence(x:f32[2,1,1], w:f32[1,1], h:f32[1,1], cell=rnn)", inputs), {first, second});
  const double last = std::tanh(-1 + 2 * 0.25), before = std::tanh(0.5 + 2 * last);
  expect_values(run("recurrence(x:f32[2,1,1], w:f32[1,1], h:f32[1,1], cell=rnn, backward=true)", inputs),
                {before, last});
}

TEST(RecurrenceReference, GruScalesTheProductOfItsFreshGate) {
  const Inputs inputs{{"x", f32({1, 1, 3}, {0.5, -1, 0.75})},
                      {"w", f32({3, 1}, {1, 2, 3})},
                      {"h", f32({1, 1}, {0.25})},
                      {"b", f32({1}, {0.125})}};
  const double reset = logistic(0.5 + 0.25), update = logistic(-1 + 0.5);
  const double fresh = std::tanh(0.75 + reset * (0.75 + 0.125));
  expect_values(run("recurrence(x:f32[1,1,3], w:f32[3,1], h:f32[1,1], b:f32[1], cell=gru)", inputs),
                {(1 - update) * fresh + update * 0.25});
}

TEST(RecurrenceReference, LstmKeepsWhatItDoesNotForget) {
  const Inputs inputs{{"x", f32({1, 1, 4}, {0.5, -1, 0.75, 2})},
                      {"w", f32({4, 1}, {1, 2, 3, 4})},
                      {"h", f32({1, 1}, {0.25})},
                      {"c", f32({1, 1}, {-0.5})}};
  const double c = logistic(-1 + 0.5) * -0.5 + logistic(0.5 + 0.25) * std::tanh(0.75 + 0.75);
  const std::string op = "recurrence(x:f32[1,1,4], w:f32[4,1], h:f32[1,1], c:f32[1,1])";
  expect_values(run(op, inputs), {logistic(2 + 1) * std::tanh(c)});
  expect_values(run("result(" + op + ")", inputs), {c});
}

}  // namespace
}  // namespace rung
