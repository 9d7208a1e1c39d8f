// Operators of exported programs that resample, pad and turn around axes.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/resize.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::Coordinates;
using exported::Interpolation;
using exported::Nearest;
using exported::refuse;
using exported::Resampling;

// The factors of the axes behind batch and channels, where the call has them: PyTorch resamples by them, whatever the
// sizes. A list, or an argument for each axis.
std::vector<std::optional<double>> factors_of(const Call& call, int axes) {
  std::vector<std::optional<double>> factors(static_cast<size_t>(axes));
  if (const Value* given = call.find("scale_factors")) {
    const auto* list = std::get_if<Values>(&given->is);
    if (!list || list->size() != factors.size()) refuse("got {} scale factors, wanted {}", describe(*given), axes);
    for (size_t i = 0; i < factors.size(); ++i) {
      const auto* number = std::get_if<double>(&(*list)[i].is);
      if (!number) refuse("a scale factor of {}", describe((*list)[i]));
      factors[i] = *number;
    }
    return factors;
  }
  if (axes == 1) return {call.optional_number("scales")};
  if (axes == 2) return {call.optional_number("scales_h"), call.optional_number("scales_w")};
  return {call.optional_number("scales_d"), call.optional_number("scales_h"), call.optional_number("scales_w")};
}

Values resized(const Call& call, Resampling how) {
  NodeId x = call.has("input") ? call.tensor("input") : call.tensor("self");
  const int axes = call.rank(x) - 2;
  if (axes < 1 || axes > 3) refuse("a resize of {}, wanted one to three axes behind batch and channels", call.type(x));
  const auto factors = factors_of(call, axes);
  const auto sizes = call.integers("output_size", {});
  if (!sizes.empty() && sizes.size() != factors.size()) refuse("got {} sizes, wanted {}", sizes.size(), axes);
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<size_t>(axis);
    how.from = call.shape(x)[axis + 2];
    if (sizes.empty() && !factors[i]) refuse("a resize without a size");
    how.to = sizes.empty() ? static_cast<int64_t>(std::floor(static_cast<double>(how.from) * *factors[i])) : sizes[i];
    how.scale = factors[i].value_or(static_cast<double>(how.to) / static_cast<double>(how.from));
    x = call.resampled(x, axis + 2, how);
  }
  return one(x);
}

Resampling interpolated(const Call& call, Interpolation kind) {
  return {.interpolation = kind,
          .coordinates = call.flag("align_corners") ? Coordinates::corners : Coordinates::half_pixel};
}

enum class Around : uint8_t { constant, reflect, replicate, circular };

// Weights by distance, stretched where there are fewer results, of the elements that are there.
Resampling antialiased(const Call& call, Interpolation kind) {
  if (call.flag("align_corners")) refuse("antialias with align_corners");
  return {.interpolation = kind, .cubic = -0.5, .within = true, .antialias = true};
}

// The place of an axis that its padded form shows at `at`, which is below 0 before the axis.
int64_t shown(int64_t at, int64_t extent, Around around) {
  const int64_t last = extent - 1;
  if (around == Around::replicate) return std::clamp<int64_t>(at, 0, last);
  if (around == Around::circular) return (at + extent) % extent;
  return at < 0 ? -at : at > last ? 2 * last - at : at;
}

struct Widths {
  int64_t before, after;
};

NodeId padded_axis(const Call& call, NodeId x, int axis, const Widths& widths, Around around) {
  const auto [before, after] = widths;
  if (around == Around::constant) return call.padded(x, axis, before, after, call.number("value", 0));
  const int64_t extent = call.shape(x)[axis];
  const int64_t most = around == Around::replicate  ? exported::kMostMade
                       : around == Around::circular ? extent
                                                    : extent - 1;
  if (before < 0 || after < 0 || extent < 1 || before > most || after > most)
    refuse("{} and {} elements around an axis of {}, wanted 0 to {}", before, after, extent,
           std::max<int64_t>(0, most));
  Tensor places({DType::i64, {extent + before + after}});
  for (int64_t i = 0; i < extent + before + after; ++i)
    places.as<int64_t>()[static_cast<size_t>(i)] = shown(i - before, extent, around);
  return call.gather(x, call.literal(places), axis);
}

// Widths are pairs from the last axis on.
Values padded(const Call& call, const std::vector<int64_t>& widths, Around around) {
  NodeId x = call.tensor("self");
  if (widths.size() % 2 || widths.size() / 2 > static_cast<size_t>(call.rank(x)))
    refuse("got {} widths for {}", widths.size(), call.type(x));
  for (size_t i = 0; i < widths.size() / 2; ++i)
    x = padded_axis(call, x, call.rank(x) - 1 - static_cast<int>(i), {widths[2 * i], widths[2 * i + 1]}, around);
  return one(x);
}

Around around_of(const Call& call) {
  const std::string mode = call.text("mode", "constant");
  if (mode == "constant") return Around::constant;
  if (mode == "reflect") return Around::reflect;
  if (mode == "replicate") return Around::replicate;
  if (mode != "circular") refuse("mode: got '{}', wanted constant, reflect, replicate or circular", mode);
  return Around::circular;
}

}  // namespace

Values upsample_linear(const Call& call) { return resized(call, interpolated(call, Interpolation::linear)); }
Values upsample_cubic(const Call& call) { return resized(call, interpolated(call, Interpolation::cubic)); }
Values upsample_linear_antialiased(const Call& call) { return resized(call, antialiased(call, Interpolation::linear)); }
Values upsample_cubic_antialiased(const Call& call) { return resized(call, antialiased(call, Interpolation::cubic)); }
Values upsample_nearest(const Call& call) {
  return resized(call, {.coordinates = Coordinates::asymmetric, .nearest = Nearest::down});
}
Values upsample_nearest_exact(const Call& call) {
  return resized(call, {.coordinates = Coordinates::half_pixel, .nearest = Nearest::half_up});
}

Values pad(const Call& call) { return padded(call, call.integers("pad"), around_of(call)); }
Values circular_pad(const Call& call) { return padded(call, call.integers("pad"), Around::circular); }
Values reflection_pad(const Call& call) { return padded(call, call.integers("padding"), Around::reflect); }
Values replication_pad(const Call& call) { return padded(call, call.integers("padding"), Around::replicate); }

Values flip(const Call& call) {
  NodeId x = call.tensor("self");
  for (int64_t dim : call.integers("dims")) {
    const int at = call.axis(x, dim);
    Tensor places({DType::i64, {call.shape(x)[at]}});
    std::iota(places.as<int64_t>().rbegin(), places.as<int64_t>().rend(), 0);
    x = call.gather(x, call.literal(places), at);
  }
  return one(x);
}

// The last elements of an axis come first.
Values roll(const Call& call) {
  NodeId x = call.tensor("self");
  const auto shifts = call.integers("shifts"), axes = call.integers("dims", {});
  if (axes.size() != shifts.size()) refuse("got {} shifts for {} axes", shifts.size(), axes.size());
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t extent = call.shape(x)[call.axis(x, axes[i])];
    const int64_t shift = extent == 0 ? 0 : (shifts[i] % extent + extent) % extent;
    if (shift > 0)
      x = call.concat(
          {call.Emit::slice(x, axes[i], extent - shift, extent), call.Emit::slice(x, axes[i], 0, extent - shift)},
          axes[i]);
  }
  return one(x);
}

}  // namespace rung::pt2::operators
