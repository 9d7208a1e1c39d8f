// Reads or computes rows of places.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/encoder_decoder/place_table.hpp"

#include <cmath>

namespace rung::huggingface {
namespace {

constexpr double kLongest = 10000;  // wave length, over that of the first

// Returns `row` times frequency number `pair`, computed in the types in which the published library does.
double angle_of(Waves waves, int64_t row, int64_t pair, int64_t pairs) {
  const auto at = static_cast<double>(pair);
  if (waves == Waves::below_end) return static_cast<double>(row) / std::pow(kLongest, at / static_cast<double>(pairs));
  const auto step = static_cast<float>(-std::log(kLongest) / static_cast<double>(pairs - 1));
  return static_cast<float>(row) * std::exp(static_cast<float>(pair) * step);
}

Tensor waves_of(const PlaceTable& places, int64_t count, int64_t width) {
  Tensor table({DType::f32, {count, width}});
  const auto values = table.as<float>();
  const int64_t pairs = width / 2;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const double angle = angle_of(places.waves, places.first_row + i, pair, pairs);
      values[static_cast<size_t>(i * width + pair)] = static_cast<float>(std::sin(angle));
      values[static_cast<size_t>(i * width + pairs + pair)] = static_cast<float>(std::cos(angle));
    }
  return table;
}

}  // namespace

PlaceRows place_rows(ModelFrame& frame, const PlaceTable& places, const Module& module, const Shape& positions_by_width,
                     int64_t count) {
  ModuleBuilder& w = frame.builder;
  const std::string name = module.tensor("weight");
  const int64_t rows = places.first_row + positions_by_width[0], width = positions_by_width[1];
  // A random checkpoint has every name, but knows no type.
  if (places.waves == Waves::none || frame.checkpoint().type(name).has_value())
    return {w.weight(name, {rows, width}, frame.dtype()), places.first_row};
  return {w.cast(w.graph.literal(module.label, waves_of(places, count, width)), frame.dtype(), module.label), 0};
}

}  // namespace rung::huggingface
