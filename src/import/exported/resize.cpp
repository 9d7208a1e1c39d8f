// Resamples axes: sums of gathered elements, or products with matrices of weights where each result is made of many.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "import/exported/emit.hpp"

namespace rung::exported {
namespace {

// In f32, as those compute it whose models are exported: a place between two elements is near one of them.
float place_of(const Resampling& how, int64_t element) {
  const auto x = static_cast<float>(element), scale = static_cast<float>(how.scale);
  switch (how.coordinates) {
    case Coordinates::corners:
      return how.to == 1 ? 0 : x * static_cast<float>(how.from - 1) / static_cast<float>(how.to - 1);
    case Coordinates::asymmetric:
      return x / scale;
    case Coordinates::region: {
      const auto begin = static_cast<float>(how.begin), end = static_cast<float>(how.end),
                 last = static_cast<float>(how.from - 1);
      if (how.to == 1) return 0.5F * (begin + end) * last;
      return begin * last + x * (end - begin) * last / static_cast<float>(how.to - 1);
    }
    case Coordinates::half_pixel_symmetric: {  // the middle stays in place where `scale` is not exactly to / from
      const float whole = scale * static_cast<float>(how.from), middle = static_cast<float>(how.from) / 2;
      return middle * (1 - static_cast<float>(how.to) / whole) + (x + 0.5F) / scale - 0.5F;
    }
    case Coordinates::half_pixel_or_first:
      if (how.to == 1) return 0;
      [[fallthrough]];
    default:
      return (x + 0.5F) / scale - 0.5F;
  }
}

// Keys' cubic: the weight of an element at this distance.
double cubic_weight(double distance, double a) {
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

double stretch_of(const Resampling& how) { return how.antialias ? std::max(1.0, 1 / how.scale) : 1; }

// Elements on either side of a place that have a weight.
int64_t reach_of(const Resampling& how) {
  const double radius = (how.interpolation == Interpolation::cubic ? 2 : 1) * stretch_of(how);
  return static_cast<int64_t>(std::ceil(std::min(radius, static_cast<double>(how.from + 1))));
}

struct Share {
  int64_t place;
  double weight;
};
// Returns the elements of a result in their order; those outside of the source are the outermost ones, or nothing.
std::vector<Share> shares_of(const Resampling& how, int64_t element) {
  const bool is_cubic = how.interpolation == Interpolation::cubic;
  const double stretch = stretch_of(how);
  const int64_t reach = reach_of(how);
  const auto place = static_cast<double>(place_of(how, element));
  const auto first = static_cast<int64_t>(std::floor(place)) - (reach - 1);
  std::vector<Share> shares;
  double sum = 0;
  for (int64_t at = first; at < first + 2 * reach; ++at) {
    const double distance = (place - static_cast<double>(at)) / stretch;
    const bool counts = !how.within || (at >= 0 && at < how.from);
    const double weight = is_cubic ? cubic_weight(distance, how.cubic) : std::max(0.0, 1 - std::fabs(distance));
    shares.push_back({std::clamp<int64_t>(at, 0, how.from - 1), counts ? weight : 0});
    sum += shares.back().weight;
  }
  if (how.within || how.antialias)
    for (Share& share : shares) share.weight /= sum;
  return shares;
}

}  // namespace

Tensor resampling_weights(const Resampling& how) {
  Tensor weights({DType::f32, {how.to, how.from}});
  std::vector<double> row(static_cast<size_t>(how.from));
  for (int64_t element = 0; element < how.to; ++element) {
    std::ranges::fill(row, 0.0);
    for (const Share& share : shares_of(how, element)) row[static_cast<size_t>(share.place)] += share.weight;
    for (int64_t at = 0; at < how.from; ++at)
      weights.as<float>()[static_cast<size_t>(element * how.from + at)] =
          static_cast<float>(row[static_cast<size_t>(at)]);
  }
  return weights;
}

ResamplingTaps resampling_taps(const Resampling& how) {
  const int64_t count = 2 * reach_of(how);
  ResamplingTaps all{count, Tensor({DType::i64, {count * how.to}}), Tensor({DType::f32, {count * how.to}})};
  for (int64_t element = 0; element < how.to; ++element) {
    const std::vector<Share> shares = shares_of(how, element);
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i * how.to + element);
      all.places.as<int64_t>()[at] = shares[static_cast<size_t>(i)].place;
      all.weights.as<float>()[at] = static_cast<float>(shares[static_cast<size_t>(i)].weight);
    }
  }
  return all;
}

Tensor nearest_places(const Resampling& how) {
  Tensor places({DType::i64, {how.to}});
  for (int64_t element = 0; element < how.to; ++element) {
    const auto place = static_cast<double>(place_of(how, element));
    double whole = std::floor(place);
    if (how.nearest == Nearest::up) whole = std::ceil(place);
    if (how.nearest == Nearest::half_down) whole = std::ceil(place - 0.5);
    if (how.nearest == Nearest::half_up) whole = std::floor(place + 0.5);
    places.as<int64_t>()[static_cast<size_t>(element)] =
        std::clamp<int64_t>(static_cast<int64_t>(whole), 0, how.from - 1);
  }
  return places;
}

Tensor places_within(const Resampling& how) {
  Tensor within({DType::boolean, {how.to}});
  for (int64_t element = 0; element < how.to; ++element) {
    const float place = place_of(how, element);
    within.as<bool>()[static_cast<size_t>(element)] = place >= 0 && place <= static_cast<float>(how.from - 1);
  }
  return within;
}

NodeId Emit::resampled(NodeId x, int64_t at, const Resampling& how) const {
  const int i = axis(x, at);
  if (how.to < 0 || how.from < 1 || how.from != shape(x)[i] || !(how.scale > 0) || how.to > kMostMade / how.from)
    refuse("{} elements of an axis of {} by a factor of {}", how.to, shape(x)[i], how.scale);
  const bool is_region = how.coordinates == Coordinates::region;
  const bool is_same = how.from == how.to && how.scale == 1 && !is_region;
  if (is_same) return x;
  if (is_region) {
    Shape along = Dims::filled(rank(x), 1);
    along[i] = how.to;
    return select(reshape(literal(places_within(how)), along), resampled_within(x, i, how),
                  scalar(how.around, dtype(x)));
  }
  return resampled_within(x, i, how);
}

// Elements outside of the source are the outermost ones, or nothing.
NodeId Emit::resampled_within(NodeId x, int i, const Resampling& how) const {
  if (how.interpolation == Interpolation::nearest) return gather(x, literal(nearest_places(how)), i);
  const bool is_sparse = how.to > 0 && 2 * reach_of(how) < how.from && !how.antialias;
  return is_sparse ? resampled_by_taps(x, i, how) : resampled_by_product(x, i, how);
}

NodeId Emit::resampled_by_product(NodeId x, int at, const Resampling& how) const {
  const NodeId weights = cast(literal(resampling_weights(how)), dtype(x));
  const bool is_last = at == rank(x) - 1;
  const NodeId y = linear(is_last ? x : swap_axes(x, at, -1), weights, std::nullopt);
  return is_last ? y : swap_axes(y, at, -1);
}

// One gather of all elements, whose parts are then weighted and added: axes stay where they are.
NodeId Emit::resampled_by_taps(NodeId x, int at, const Resampling& how) const {
  const ResamplingTaps taps = resampling_taps(how);
  const NodeId elements = cast(gather(x, literal(taps.places), at), DType::f32);
  Shape along = Dims::filled(rank(x), 1);
  along[at] = taps.count * how.to;
  const NodeId weights = reshape(literal(taps.weights), along);
  std::optional<NodeId> sum;
  for (int64_t first = 0; first < taps.count * how.to; first += how.to) {
    const NodeId part =
        binary(BinaryKind::mul, slice(elements, at, first, first + how.to), slice(weights, at, first, first + how.to));
    sum = sum ? binary(BinaryKind::add, *sum, part) : part;
  }
  return cast(*sum, dtype(x));
}

}  // namespace rung::exported
