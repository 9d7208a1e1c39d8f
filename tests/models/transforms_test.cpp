// Transforms of exported graphs as plans: how far f32 strays from sums in f64, and signals that come back.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "import/exported/spectral.hpp"
#include "plan/support.hpp"

namespace rung {
namespace {

using exported::Complex;
using exported::Transform;

// A graph of transforms of [1,N].
struct Program {
  NodeId input(const char* name, int64_t size) { return graph.input(name, {DType::f32, {1, size}}); }
  std::map<std::string, Tensor> values(const NamedTensors& inputs) {
    const auto outputs = outputs_of(plan_of(graph, all_passes()), inputs);
    return {outputs.begin(), outputs.end()};
  }

  Graph graph;
  GraphBuilder builder{graph};
  exported::Emit emit{builder, "t"};
};

// The largest difference from the transform in f64, over the root of the sum of squares.
double error_of(int64_t points, bool inverse) {
  Program program;
  const Complex x{program.input("real", points), program.input("imaginary", points)};
  const Complex y =
      exported::transformed(program.emit, x, 1, {points, points, inverse, inverse ? 1.0 / double(points) : 1});
  program.graph.set_output("r", y.real);
  program.graph.set_output("i", *y.imaginary);
  const NamedTensors inputs = random_inputs(program.graph);
  const auto got = program.values(inputs);
  const auto re = inputs.at("real").as<float>(), im = inputs.at("imaginary").as<float>();
  double largest = 0, squares = 0;
  for (int64_t k = 0; k < points; ++k) {
    double real = 0, imaginary = 0;
    for (int64_t n = 0; n < points; ++n) {
      const double angle = (inverse ? 2 : -2) * std::numbers::pi * double(k * n % points) / double(points);
      const double a = re[size_t(n)], b = im[size_t(n)], c = std::cos(angle), s = std::sin(angle);
      real += a * c - b * s, imaginary += a * s + b * c;
    }
    const double scale = inverse ? 1.0 / double(points) : 1;
    const double off = std::hypot(double(got.at("r").as<float>()[size_t(k)]) - scale * real,
                                  double(got.at("i").as<float>()[size_t(k)]) - scale * imaginary);
    largest = std::max(largest, off);
    squares += scale * scale * (real * real + imaginary * imaginary);
  }
  return largest / std::sqrt(squares / double(points));
}

TEST(Transforms, StayNearSumsInF64) {
  for (const int64_t points : {1, 2, 16, 97, 100, 400, 512, 521, 600, 1024, 1536})
    for (const bool inverse : {false, true}) EXPECT_LT(error_of(points, inverse), 2e-6) << points;
}

TEST(Transforms, HalfASpectrumIsTheWholeSignals) {
  for (const int64_t points : {9, 10, 512, 600, 1023}) {
    Program program;
    const NodeId x = program.input("x", points);
    const Complex half = exported::transformed(program.emit, {x, std::nullopt}, 1, {points, points / 2 + 1});
    program.graph.set_output("y", exported::signal_of_half(program.emit, half, 1, points, 1 / double(points)));
    const NamedTensors inputs = random_inputs(program.graph);
    EXPECT_LT(relative_l2(program.values(inputs).at("y"), inputs.at("x")), 1e-6) << points;
  }
}

TEST(Transforms, ShortAndLongSignalsAreCutAndFilled) {
  for (const int64_t size : {500, 700}) {
    Program program;
    const NodeId x = program.input("x", size);
    const Complex y = exported::transformed(program.emit, {x, std::nullopt}, 1, {600, 301});
    program.graph.set_output("y", exported::signal_of_half(program.emit, y, 1, 600, 1.0 / 600));
    const NamedTensors inputs = random_inputs(program.graph);
    const Tensor got = program.values(inputs).at("y");
    for (int64_t i = 0; i < 600; ++i)
      EXPECT_NEAR(got.as<float>()[size_t(i)], i < size ? inputs.at("x").as<float>()[size_t(i)] : 0, 1e-5) << i;
  }
}

}  // namespace
}  // namespace rung
