// One row for each kind of values.
// SPDX-License-Identifier: Apache-2.0
#include "values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "problems.hpp"
#include "reference/evaluate.hpp"

namespace rung::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where the values of a name come from; a number that ends the name is a parameter of theirs.
struct Source {
  std::string name;
  uint64_t seed;
  double number;

  double normal(uint64_t i) const { return random_normal(seed, i); }
  double uniform(uint64_t i) const { return random_uniform(seed + 1, i); }
};

Source source_of(const std::string& name) {
  const size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  return {name, hash_text(name), std::strtod(name.c_str() + digits, nullptr)};
}

using ValueOf = double (*)(const Source&, uint64_t i);

// The mask "blind20" has rows of 20 keys: every third leaves none, the others leave three quarters.
double blind_mask(const Source& of, uint64_t i) {
  const uint64_t row = i / static_cast<uint64_t>(of.number);
  return row % 3 == 1 || i % 4 == 2 ? -kInfinity : 0;
}

double nonzero(const Source& of, uint64_t i) { return (i % 2 ? 1 : -1) * (1 + std::floor(4 * of.uniform(i))); }
double with_holes(const Source& of, uint64_t i) {
  return i % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : of.normal(i);
}
double hidden(const Source&, uint64_t i) { return i / 20 % 2 ? std::numeric_limits<float>::lowest() : 0; }
double byte(const Source& of, uint64_t i) { return std::floor(255 * of.uniform(i)) - 127; }
double step(const Source& of, uint64_t i) { return 0.002 * (1 + of.uniform(i)); }

struct Kind {
  std::string_view prefix;
  ValueOf value;
  bool as_is = false;  // integers take these values themselves, and four times those of other kinds
};

// The first whose prefix the name begins with.
constexpr Kind kKinds[] = {
    {"positive", [](const Source& of, uint64_t i) { return 0.1 + 2 * of.uniform(i); }},
    {"nonzero", nonzero, true},
    {"index", [](const Source& of, uint64_t i) { return std::floor(3 * of.uniform(i)); }, true},
    {"mask", [](const Source& of, uint64_t i) { return of.uniform(i) < 0.25 && i > 0 ? -1e9 : 0; }},
    {"gaps", [](const Source&, uint64_t i) { return i / 75 % 2 ? -kInfinity : 0; }},
    {"keep", [](const Source& of, uint64_t i) { return of.uniform(i) < 0.6 || i == 0 ? 1.0 : 0; }, true},
    {"far", [](const Source& of, uint64_t i) { return 100 * of.normal(i); }},
    {"faint", [](const Source& of, uint64_t i) { return 0x1p-100 * of.normal(i); }},
    {"huge", [](const Source& of, uint64_t i) { return 0x1p58 * of.normal(i); }},  // of 64-bit integers
    {"holes", with_holes},
    {"still", [](const Source& of, uint64_t i) { return i / 37 % 2 ? 0.01 * of.normal(i) : 0; }},  // of rows of 37
    {"hidden", hidden},
    {"blind", blind_mask},
    {"length", [](const Source& of, uint64_t) { return of.number; }, true},
    {"none", [](const Source&, uint64_t) { return 0.0; }},
    {"settings", [](const Source& of, uint64_t i) { return setting_of(of.name, i); }},
    {"bytes", byte, true},
    {"wbytes", byte, true},
    {"ubytes", [](const Source& of, uint64_t i) { return std::floor(256 * of.uniform(i)); }, true},
    {"wfine", [](const Source& of, uint64_t i) { return 0.1 * step(of, i); }},  // of sums that become bytes
    {"wpairs", [](const Source& of, uint64_t i) { return std::floor(256 * of.uniform(i)); }, true},  // of 4 bits each
    {"offsets", [](const Source& of, uint64_t i) { return 20000 * of.normal(i); }},                  // of sums of bytes
    {"steps", step},                                                                                 // scales of bytes
    {"wsteps", step},
    {"vwsteps", step},
    {"w", [](const Source& of, uint64_t i) { return 0.1 * of.normal(i); }},
    {"", [](const Source& of, uint64_t i) { return of.normal(i); }},
};

const Kind& kind_of(std::string_view name) {
  return *std::ranges::find_if(kKinds, [&](const Kind& kind) { return name.starts_with(kind.prefix); });
}

// Returns at least `count` values of a name. Hundreds of problems have operands of the same few names.
const std::vector<float>& values_of(const std::string& name, size_t count) {
  static std::map<std::string, std::vector<float>> made;
  std::vector<float>& values = made[name];
  const Source source = source_of(name);
  const ValueOf value = kind_of(name).value;
  while (values.size() < count) values.push_back(static_cast<float>(value(source, values.size())));
  return values;
}

}  // namespace

Tensor filled(const std::string& name, const Type& type) {
  Tensor wide({DType::f32, type.shape});
  const auto elements = wide.as<float>();
  const bool fractions = is_float(type.dtype) || type.dtype == DType::boolean;
  const float scale = fractions || kind_of(name).as_is ? 1 : 4;
  std::ranges::transform(std::span(values_of(name, elements.size())).first(elements.size()), elements.begin(),
                         [&](float value) { return scale * value; });
  if (type.dtype == DType::u8)
    for (float& value : elements) value = std::abs(value);
  return convert(wide, type.dtype);
}

}  // namespace rung::test
