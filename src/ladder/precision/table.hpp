// The table of a model's parts: their measured times and errors, as plain data, the mixtures of forms that it says may
// be worth building, and the recipe's entries of one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ladder/precision/forms.hpp"
#include "ladder/precision/parts.hpp"
#include "ladder/precision/solver.hpp"

namespace rung {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// The times of all parts in plans that store the values between products in one type.
struct ValuesTimes {
  DType values = DType::f32;
  double rest_us = 0;                        // of launches in no part, in the plan with the first form
  std::optional<double> squared_error;       // that storing values so adds; none: not measured
  std::vector<std::vector<double>> part_us;  // by part, then by form of the table; NaN: not measured
  friend bool operator==(const ValuesTimes&, const ValuesTimes&) = default;
};

struct PrecisionTable {
  std::vector<PrecisionForm> forms;  // f32 first
  std::vector<PrecisionPart> parts;
  std::vector<ValuesTimes> bases;                  // f32 first
  std::vector<std::vector<double>> squared_error;  // that a form of a part adds alone, by part, then by form; NaN: not
                                                   // measured. That of f32 is 0.
  // Returns the most microseconds that a form of the part saves over f32, in any base.
  double stake(size_t part, size_t form) const;
};

// A form for each part, and the type of the values between them.
struct MixedPrecision {
  size_t base = 0;
  std::vector<size_t> forms;                                                        // by part
  friend auto operator<=>(const MixedPrecision&, const MixedPrecision&) = default;  // NOLINT(modernize-use-nullptr)
};

// Returns the sums of the mixture's times and squared errors by the table; its options are the mixture's forms. NaN:
// one of them was not measured.
PrecisionChoice predicted(const PrecisionTable& table, const MixedPrecision& mixture);

// Mixtures as the table predicts them.
struct MixedFrontier {
  std::vector<PrecisionChoice> choices;  // options: forms by part
  std::vector<size_t> bases;             // by choice
  size_t size() const { return choices.size(); }
  MixedPrecision operator[](size_t i) const { return {bases[i], choices[i].options}; }
};

// Returns the mixtures that no other one beats in both time and error, by growing error, of what was measured. Errors:
// those of precision_frontier().
Result<MixedFrontier> mixed_frontier(const PrecisionTable& table);

// Returns the recipe's entries of a mixture: as few as give every one of `labels` what the mixture says, in which
// entries of longer scopes follow those of shorter ones. Attention has f32 or bf16, whatever the form of its part.
Precision entries_of(const PrecisionTable& table, const MixedPrecision& mixture,
                     const std::vector<ProductLaunch>& launches);

}  // namespace rung
