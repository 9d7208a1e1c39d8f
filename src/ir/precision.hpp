// The dtypes in which the parts of a model multiply and store: recipes choose them, passes narrow by them, the judge
// measures their cost.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"

namespace rung {

// The entry of a recipe for one part of a model. Sums and statistics are f32 in every case.
struct PartPrecision {
  std::string labels = "*";        // the part's scope (ir/scope.hpp); "*" alone is the whole model
  std::optional<DType> products;   // read by products with weights
  std::optional<DType> attention;  // read by products of computed values: scores, and the values that they weigh
  std::optional<DType> values;     // values stored for the ops that follow
  bool covers(std::string_view label) const;
  friend auto operator<=>(const PartPrecision&, const PartPrecision&) = default;  // NOLINT(modernize-use-nullptr)
};

// Later entries override earlier ones for the labels that they cover; without an entry, all is f32.
using Precision = std::vector<PartPrecision>;

// The dtypes that all entries together give the ops of one label.
struct LabelPrecision {
  DType products = DType::f32, attention = DType::f32, values = DType::f32;
  friend bool operator==(const LabelPrecision&, const LabelPrecision&) = default;
};
LabelPrecision precision_at(const Precision& precision, std::string_view label);

// Returns the entry for the whole model in that dtype; f32 takes no entry.
Precision everywhere(DType dtype);

// Returns the narrowest dtype that any entry names, else f32: answers are at best as exact as it.
DType narrowest(const Precision& precision);

// Returns b if it rounds more than a, of f32, f16 and bf16; else a.
DType coarser(DType a, DType b);

}  // namespace rung
