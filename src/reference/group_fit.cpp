// Fits scales and offsets of groups: those of 4 bits by least squares from several first guesses.
// SPDX-License-Identifier: Apache-2.0
#include "reference/group_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace rung::reference {
namespace {

constexpr float kMost = 127;           // of i8
constexpr float kLow = -8, kHigh = 7;  // of 4 bits
constexpr float kOffsetStep = 8;       // an offset counts as many steps of the row's scale

// Weights of billions of elements pass through here, so loops take four at once.
constexpr size_t kLanes = 4;
using Lanes __attribute__((vector_size(kLanes * sizeof(float)))) = float;

Lanes load(std::span<const float> group, size_t i) {
  Lanes lanes;
  std::memcpy(&lanes, &group[i], sizeof lanes);
  return lanes;
}
float sum_of(Lanes lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

// x is about scale * c + offset.
struct Line {
  float scale = 0, offset = 0;
};

// Returns the numbers c of x, rounded to nearest even.
Lanes numbers_of(Lanes x, const Line& line, float by_scale) {
  constexpr float kWhole = 12582912;  // beside it, floats are integers
  Lanes c = (x - line.offset) * by_scale;
  c = c < kLow ? Lanes{} + kLow : c;
  c = c > kHigh ? Lanes{} + kHigh : c;
  return (c + kWhole) - kWhole;
}

// The sums over a group from which the best line through its numbers follows.
struct Sums {
  float c = 0, cc = 0, x = 0, cx = 0;
};

Sums sums_of(std::span<const float> group, const Line& line) {
  Lanes c{}, cc{}, x{}, cx{};
  const float by_scale = 1 / line.scale;
  for (size_t i = 0; i < group.size(); i += kLanes) {
    const Lanes values = load(group, i), numbers = numbers_of(values, line, by_scale);
    c += numbers, cc += numbers * numbers, x += values, cx += numbers * values;
  }
  return {sum_of(c), sum_of(cc), sum_of(x), sum_of(cx)};
}

float squared_error(std::span<const float> group, const Line& line) {
  Lanes sums{};
  const float by_scale = 1 / line.scale;
  for (size_t i = 0; i < group.size(); i += kLanes) {
    const Lanes x = load(group, i), error = numbers_of(x, line, by_scale) * line.scale + line.offset - x;
    sums += error * error;
  }
  return sum_of(sums);
}

// Returns the line of least squares through the numbers that `line` gives; `line` if they are all the same.
Line refined(std::span<const float> group, const Line& line) {
  const Sums sums = sums_of(group, line);
  const auto n = static_cast<float>(group.size());
  const float spread = n * sums.cc - sums.c * sums.c;
  const float scale = (n * sums.cx - sums.c * sums.x) / spread;
  if (!(spread > 0) || !(scale > 0) || std::isinf(1 / scale)) return line;
  return {scale, (sums.x - scale * sums.c) / n};
}

// Returns the line whose numbers have the least squared error among those that were tried. A group of equal values
// has no scale, and is its offset.
Line fitted(std::span<const float> group) {
  const auto [low, high] = std::ranges::minmax(group);
  const float width = (high - low) / (kHigh - kLow);
  const float smallest = std::numeric_limits<float>::min();
  if (!(width > 4 * smallest)) return {0, (low + high) / 2};
  Line best;
  float least = std::numeric_limits<float>::infinity();
  for (const float part : {0.7f, 0.8f, 0.9f, 1.0f}) {
    Line line{part * width, (low + high) / 2 + part * width / 2};
    for (int step = 0; step < 5; ++step) line = refined(group, line);
    if (const float error = squared_error(group, line); error < least) least = error, best = line;
  }
  return best;
}

int8_t in_i8(float x) { return static_cast<int8_t>(std::clamp(std::nearbyint(x), -kMost, kMost)); }

void quantise_4_bits(std::span<const float> row, const GroupedRow& to, size_t group) {
  std::vector<Line> lines;
  float scale = 0;
  for (size_t begin = 0; begin < row.size(); begin += group) {
    lines.push_back(fitted(row.subspan(begin, group)));
    scale = std::max({scale, lines.back().scale / kMost, std::fabs(lines.back().offset) / (kMost * kOffsetStep)});
  }
  if (!(scale > 0)) scale = 1;
  *to.scale = scale;
  for (size_t g = 0; g < lines.size(); ++g) {
    to.group_scale[g] = in_i8(lines[g].scale / scale);
    to.group_offset[g] = in_i8(lines[g].offset / (kOffsetStep * scale));
    const Line line{scale * to.group_scale[g], scale * kOffsetStep * to.group_offset[g]};
    const float by_scale = to.group_scale[g] > 0 ? 1 / line.scale : 0;
    for (size_t i = g * group; i < (g + 1) * group; i += kLanes) {
      const Lanes numbers = numbers_of(load(row, i), line, by_scale) - kLow;
      const auto nibble = [&](size_t lane) { return static_cast<uint32_t>(numbers[lane]); };
      to.numbers[i / 2] = static_cast<uint8_t>(nibble(0) | nibble(1) << 4);
      to.numbers[i / 2 + 1] = static_cast<uint8_t>(nibble(2) | nibble(3) << 4);
    }
  }
}

void quantise_8_bits(std::span<const float> row, const GroupedRow& to, size_t group) {
  std::vector<float> largest;
  for (size_t begin = 0; begin < row.size(); begin += group) {
    largest.push_back(0);
    for (const float x : row.subspan(begin, group)) largest.back() = std::max(largest.back(), std::fabs(x));
  }
  const float most = *std::ranges::max_element(largest);
  const float scale = most > 0 ? most / (kMost * kMost) : 1;
  *to.scale = scale;
  for (size_t g = 0; g < largest.size(); ++g) {
    to.group_scale[g] = in_i8(std::ceil(largest[g] / (kMost * scale)));
    const float step = scale * to.group_scale[g];
    for (size_t i = g * group; i < (g + 1) * group; ++i)
      to.numbers[i] = static_cast<uint8_t>(step > 0 ? in_i8(row[i] / step) : int8_t{0});
  }
}

}  // namespace

void quantise_in_groups(std::span<const float> row, const GroupedRow& to) {
  if (row.empty()) return void(*to.scale = 1);
  if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) {
    *to.scale = std::numeric_limits<float>::quiet_NaN();
    std::ranges::fill(to.numbers, uint8_t{0});
    std::ranges::fill(to.group_scale, int8_t{0});
    return std::ranges::fill(to.group_offset, int8_t{0}), void();
  }
  const size_t group = row.size() / to.group_scale.size();
  to.group_offset.empty() ? quantise_8_bits(row, to, group) : quantise_4_bits(row, to, group);
}

}  // namespace rung::reference
