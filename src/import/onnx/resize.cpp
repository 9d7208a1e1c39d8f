// Resampled tensors of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/resize.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::Coordinates;
using exported::Interpolation;
using exported::Nearest;
using exported::refuse;
using exported::Resampling;

template <class T>
T one_of(const Call& call, const char* attribute, const char* left_out, const std::map<std::string, T>& known) {
  const std::string word = call.text(attribute, left_out);
  const auto found = known.find(word);
  if (found == known.end()) refuse("{}: '{}' is not imported", attribute, word);
  return found->second;
}

std::vector<double> numbers_of(const Call& call, size_t input) {
  if (!call.has(input) || call.type(call[input]).elements() == 0) return {};
  const auto value = call.value_of(call[input]);
  if (!value) refuse("input {} depends on an input's values", input);
  const Tensor wide = convert(*value, DType::f32);
  return {wide.as<float>().begin(), wide.as<float>().end()};
}

Resampling resampling_of(const Call& call) {
  Resampling how;
  how.interpolation = one_of<Interpolation>(
      call, "mode", "nearest",
      {{"nearest", Interpolation::nearest}, {"linear", Interpolation::linear}, {"cubic", Interpolation::cubic}});
  how.coordinates = one_of<Coordinates>(call, "coordinate_transformation_mode", "half_pixel",
                                        {{"half_pixel", Coordinates::half_pixel},
                                         {"pytorch_half_pixel", Coordinates::half_pixel_or_first},
                                         {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
                                         {"align_corners", Coordinates::corners},
                                         {"asymmetric", Coordinates::asymmetric},
                                         {"tf_crop_and_resize", Coordinates::region}});
  how.around = call.number("extrapolation_value", 0);
  how.nearest = one_of<Nearest>(call, "nearest_mode", "round_prefer_floor",
                                {{"round_prefer_floor", Nearest::half_down},
                                 {"round_prefer_ceil", Nearest::half_up},
                                 {"floor", Nearest::down},
                                 {"ceil", Nearest::up}});
  how.cubic = call.number("cubic_coeff_a", -0.75);
  how.within = call.integer("exclude_outside", 0) != 0;
  how.antialias = call.integer("antialias", 0) != 0;
  if (how.antialias && how.interpolation == Interpolation::nearest) refuse("antialias of mode 'nearest'");
  return how;
}

// One factor for all axes, by which none becomes larger, or none smaller, than it is asked to; none: each has its own.
std::optional<double> common_factor(const Call& call, const std::vector<int64_t>& axes,
                                    const std::vector<int64_t>& sizes) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || sizes.empty()) return std::nullopt;
  if (policy != "not_larger" && policy != "not_smaller")
    refuse("keep_aspect_ratio_policy: got '{}', wanted stretch, not_larger or not_smaller", policy);
  std::vector<double> factors;
  for (size_t i = 0; i < axes.size(); ++i)
    factors.push_back(static_cast<double>(sizes[i]) /
                      static_cast<double>(call.shape(call[0])[call.axis(call[0], axes[i])]));
  return policy == "not_larger" ? *std::ranges::min_element(factors) : *std::ranges::max_element(factors);
}

}  // namespace

// Sizes, or factors in place of them, of all axes or of those that `axes` names.
Outputs resize(const Call& call) {
  Resampling how = resampling_of(call);
  const bool is_selected = how.interpolation == Interpolation::nearest;
  const DType type = call.dtype(call[0]);
  NodeId x = is_selected || is_float(type) ? call[0] : call.cast(call[0], DType::f32);
  std::vector<int64_t> axes = call.integers("axes");
  if (axes.empty())
    for (int i = 0; i < call.rank(x); ++i) axes.push_back(i);
  const std::vector<double> scales = numbers_of(call, 2);
  const std::vector<int64_t> sizes = call.has(3) ? call.integers_of(3) : std::vector<int64_t>();
  if ((scales.empty() ? sizes.size() : scales.size()) != axes.size())
    refuse("got {} scales and {} sizes for {} axes", scales.size(), sizes.size(), axes.size());
  const std::optional<double> common = common_factor(call, axes, sizes);
  const std::vector<double> corners =
      how.coordinates == Coordinates::region ? numbers_of(call, 1) : std::vector<double>(2 * axes.size());
  if (corners.size() != 2 * axes.size()) refuse("roi: got {} numbers, wanted {}", corners.size(), 2 * axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    how.from = call.shape(x)[call.axis(x, axes[i])];
    how.begin = corners[i], how.end = corners[axes.size() + i];
    how.scale = common           ? *common
                : scales.empty() ? static_cast<double>(sizes[i]) / static_cast<double>(how.from)
                                 : scales[i];
    const float length = static_cast<float>(how.from) * static_cast<float>(how.scale);  // in the factors' precision
    if (!(length >= 0 && length <= static_cast<float>(exported::kMostMade))) refuse("a factor of {}", how.scale);
    how.to = common           ? static_cast<int64_t>(static_cast<double>(how.from) * *common + 0.5)
             : scales.empty() ? sizes[i]
                              : static_cast<int64_t>(length);
    // ONNX's definition measures the result before its length is rounded; runtimes and PyTorch measure what is there.
    if (how.coordinates == Coordinates::corners && !scales.empty() && length != std::floor(length))
      refuse("align_corners with a factor of {}, by which {} elements become {}", how.scale, how.from, length);
    x = call.resampled(x, axes[i], how);
  }
  return {call.cast(x, type)};  // integers lose their fractions, as in ONNX Runtime
}

// A resize as it was before it had coordinates of its own.
Outputs upsample(const Call& call) {
  NodeId x = call[0];
  const std::vector<double> scales = numbers_of(call, 1);
  if (scales.size() != static_cast<size_t>(call.rank(x))) refuse("got {} scales for {}", scales.size(), call.type(x));
  Resampling how{.interpolation = one_of<Interpolation>(
                     call, "mode", "nearest", {{"nearest", Interpolation::nearest}, {"linear", Interpolation::linear}}),
                 .coordinates = Coordinates::asymmetric,
                 .nearest = Nearest::down};
  for (size_t i = 0; i < scales.size(); ++i) {
    how.from = call.shape(x)[static_cast<int>(i)], how.scale = scales[i];
    const double extent = std::floor(static_cast<double>(how.from) * how.scale);
    if (!(extent >= 0 && extent <= static_cast<double>(exported::kMostMade))) refuse("a factor of {}", how.scale);
    how.to = static_cast<int64_t>(extent);
    x = call.resampled(x, static_cast<int64_t>(i), how);
  }
  return {x};
}

}  // namespace rung::onnx::operators
