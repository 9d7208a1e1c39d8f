// Recurrences, step by step.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reference/operations.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// One row of a batch, as it goes from step to step.
struct Stepper {
  const Recurrence& op;
  size_t hidden;
  const std::vector<double>&w, &bias;
  std::vector<double> h, c;

  // x: its gates of this step.
  void step(const double* x) {
    std::vector<double> products(size(gates_of(op.cell)) * hidden);
    for (size_t i = 0; i < products.size(); ++i)
      for (size_t k = 0; k < hidden; ++k) products[i] += w[i * hidden + k] * h[k];
    for (size_t i = 0; i < hidden; ++i) {
      const auto product = [&](size_t gate) { return products[gate * hidden + i]; };
      const auto sum = [&](size_t gate) { return x[gate * hidden + i] + product(gate); };
      if (op.cell == CellKind::rnn) h[i] = std::tanh(sum(0));
      if (op.cell == CellKind::gru) {
        const double fresh = std::tanh(x[2 * hidden + i] + logistic(sum(0)) * (product(2) + bias[i]));
        h[i] = fresh + logistic(sum(1)) * (h[i] - fresh);
      }
      if (op.cell == CellKind::lstm) {
        c[i] = logistic(sum(1)) * c[i] + logistic(sum(0)) * std::tanh(sum(2));
        h[i] = logistic(sum(3)) * std::tanh(c[i]);
      }
    }
  }
};

struct Recurred {
  std::vector<double> all, c;
};

Recurred recurred(const Recurrence& op, const Arguments& arguments) {
  const Shape& in = arguments[0].shape();
  const size_t steps = size(in[0]), batch = size(in[1]), hidden = size(arguments[1].shape()[1]);
  const size_t width = size(gates_of(op.cell)) * hidden;
  const auto x = read(arguments[0]), w = read(arguments[1]), h = read(arguments[2]);
  const auto last = op.cell == CellKind::rnn ? std::vector<double>() : read(arguments[3]);
  Recurred out{std::vector<double>(steps * batch * hidden), {}};
  for (size_t b = 0; b < batch; ++b) {
    const auto part = [&](const std::vector<double>& of) {
      const auto first = of.begin() + static_cast<std::ptrdiff_t>(b * hidden);
      return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(hidden));
    };
    Stepper row{op, hidden, w, last, part(h), op.cell == CellKind::lstm ? part(last) : std::vector<double>()};
    for (size_t i = 0; i < steps; ++i) {
      const size_t at = (op.backward ? steps - 1 - i : i) * batch + b;
      row.step(x.data() + at * width);
      std::copy(row.h.begin(), row.h.end(), out.all.begin() + static_cast<std::ptrdiff_t>(at * hidden));
    }
    out.c.insert(out.c.end(), row.c.begin(), row.c.end());
  }
  return out;
}

}  // namespace

Result<Tensor> compute(const Recurrence& op, const Arguments& arguments) {
  return write(arguments.result, recurred(op, arguments).all);
}
// Computes the second result: a lstm's last c.
Result<Tensor> compute_further(const Recurrence& op, const Arguments& arguments, size_t) {
  return write(arguments.result, recurred(op, arguments).c);
}

}  // namespace rung::reference
