// The dtypes in which the parts of a model multiply and store: recipes choose them, passes narrow by them, the judge
// measures their cost.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"
#include "ir/shape.hpp"

namespace rung {

// A form of weights that are quantised where what they multiply is not, as quantize() has it.
struct WeightForm {
  DType to = DType::i8;  // of 8 bits; u8: numbers of 4 bits, whose word in recipes is i4
  int64_t group = 0;     // columns that share a scale; 0: a whole row
  friend auto operator<=>(const WeightForm&, const WeightForm&) = default;  // NOLINT(modernize-use-nullptr)
};
inline std::string_view name_of(const WeightForm& form) { return form.to == DType::u8 ? "i4" : name_of(form.to); }

// The entry of a recipe for one part of a model. Sums and statistics are f32 in every case.
struct PartPrecision {
  std::string labels = "*";        // the part's scope (ir/scope.hpp); "*" alone is the whole model
  std::optional<DType> products;   // read by products with weights; of 8 bits: both operands are quantised
  std::optional<DType> attention;  // read by products of computed values: scores, and the values that they weigh
  std::optional<DType> values;     // values stored for the ops that follow
  std::optional<WeightForm> weights;
  std::optional<DType> cache;  // that keeps the keys and values of an attention; f32: what the attention reads
  // These are for products of 8 bits; an entry with products begins without them:
  std::optional<double> smooth;      // from 0 to 1: how much of each channel's size the weights take over; 0: none
  std::optional<bool> rotate;        // channels of heads and residual streams are mixed, so that none is large alone
  std::optional<double> percentile;  // of |x|, from which static scales are measured; 100: the largest
  std::optional<int64_t> outliers;   // columns of the largest |x| that keep their type; 0: none
  bool covers(std::string_view label) const;
  friend auto operator<=>(const PartPrecision&, const PartPrecision&) = default;  // NOLINT(modernize-use-nullptr)
};

// Later entries override earlier ones for the labels that they cover; without an entry, all is f32.
using Precision = std::vector<PartPrecision>;

// The dtypes that all entries together give the ops of one label.
struct LabelPrecision {
  DType products = DType::f32, attention = DType::f32, values = DType::f32;
  std::optional<WeightForm> weights = {};
  DType cache = DType::f32;
  double smooth = 0;
  bool rotate = false;
  double percentile = 100;
  int64_t outliers = 0;
  // Returns the type in which products with weights compute unless they are quantised.
  DType unquantised() const { return is_quantised(products) ? values : products; }
  friend bool operator==(const LabelPrecision&, const LabelPrecision&) = default;
};
// The largest |x| that each linear saw, or a percentile of |x|, by its label: the static scales of values of 8 bits
// come from it.
using Calibration = std::map<std::string, float, std::less<>>;
// The largest |x| of each channel that a linear saw, by its label: products are smoothed by it.
using ChannelCalibration = std::map<std::string, std::vector<float>, std::less<>>;
// The columns of what a linear multiplies that are not rounded to 8 bits, by its label.
using OutlierColumns = std::map<std::string, Columns, std::less<>>;
LabelPrecision precision_at(const Precision& precision, std::string_view label);

// Returns the entry for the whole model in that dtype; f32 takes no entry.
Precision everywhere(DType dtype);

// Returns the narrowest dtype that any entry names, else f32: answers are at best as exact as it. Of at most 8 bits,
// the first; i8 stands for 4 bits.
DType narrowest(const Precision& precision);

// Returns b if it rounds more than a, of f32, f16, bf16 and those of 8 bits; else a.
DType coarser(DType a, DType b);

}  // namespace rung
