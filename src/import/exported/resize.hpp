// How an axis is resampled: where each element of the result lies in the source, and which elements it is made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/tensor.hpp"

namespace rung::exported {

enum class Interpolation : uint8_t { nearest, linear, cubic };
// Source: ONNX's Resize, coordinate_transformation_mode and nearest_mode.
enum class Coordinates : uint8_t { half_pixel, half_pixel_or_first, half_pixel_symmetric, corners, asymmetric, region };
enum class Nearest : uint8_t { down, up, half_down, half_up };

struct Resampling {
  Interpolation interpolation = Interpolation::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  Nearest nearest = Nearest::half_down;
  double cubic = -0.75;       // the cubic's parameter
  bool within = false;        // elements outside the source have no weight; else they are the outermost ones
  bool antialias = false;     // where there are fewer results, each is made of as many more elements
  int64_t from = 1, to = 1;   // elements
  double scale = 1;           // to / from, or what the file says in its place
  double begin = 0, end = 1;  // of a region: where its corners stand between the source's first and last elements
  double around = 0;          // of a region: what stands outside of the source
};

// Returns f32[to,from]: the weights of the source's elements in each element of the result.
Tensor resampling_weights(const Resampling& how);
// The elements of which each result is made, one after another, where it is made of few: i64[count to], count of each
// result, and their weights, f32[count to]; those of the first for all results come first.
struct ResamplingTaps {
  int64_t count;
  Tensor places, weights;
};
ResamplingTaps resampling_taps(const Resampling& how);
// Returns bool[to]: whether the place of each element of the result is within the source.
Tensor places_within(const Resampling& how);
// Returns i64[to]: the element of the source that each element of the result is.
Tensor nearest_places(const Resampling& how);

}  // namespace rung::exported
