// The forms in which a part of a model may compute: the candidates among which a stated error chooses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/precision.hpp"
#include "kernels/target.hpp"
#include "plan/plan.hpp"

namespace rung {

// A form of products with weights or, if it names a cache, of attention over one.
struct PrecisionForm {
  std::string name;             // for reports: "bf16", "f8e4m3fn", "i8 weights", "f8e4m3fn cache"
  DType products = DType::f32;  // as PartPrecision has them
  std::optional<WeightForm> weights = {};
  std::optional<DType> cache = {};
  double smooth = 0, percentile = 100;
  bool rotate = false;
  int64_t outliers = 0;
  // Returns whether both operands of products have 8 bits.
  bool is_quantised_product() const { return is_quantised(products) && !weights && !cache; }
  // Returns whether products with weights of that precision have the form.
  bool is_at(const LabelPrecision& at) const {
    return at.products == products && at.weights == weights && at.smooth == smooth && at.rotate == rotate &&
           at.percentile == percentile && at.outliers == outliers;
  }
  void apply(PartPrecision& part) const;
  friend bool operator==(const PrecisionForm&, const PrecisionForm&) = default;
};

// Returns whether the target multiplies bf16 faster than f32.
bool multiplies_bf16(const Target& target);

// Returns whether the target has a kernel for products of i8 beside which that many columns keep their type.
Verdict multiplies_outliers(const Target& target, int threads, int64_t outliers);

// Returns the forms in which products of a model may compute on the target of its plan, which narrows none of them; the
// plan's own form is the first, "f32" or "as stored". `notes`: why there are no others.
std::vector<PrecisionForm> precision_forms(const Plan& plan, std::vector<std::string>& notes);

}  // namespace rung
