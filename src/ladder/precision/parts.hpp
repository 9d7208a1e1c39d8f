// The parts of a model whose precision is one decision each, by the labels under which recipes find them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/build.hpp"

namespace rung {

// Products that a launch computes: with weights, or of computed values (attention: scores, and what they weigh).
enum class ProductKind : uint8_t { weights, attention };

// Products that one launch of a plan computes.
struct ProductLaunch {
  ProductKind kind = ProductKind::weights;
  std::set<std::string, std::less<>> labels;  // under which recipes find them
  double us = 0;                              // of one run
};

// Returns the launches of a plan that compute products, each with its own label; `us` is the time of each of all its
// launches.
std::vector<ProductLaunch> product_launches(const Plan& plan, const std::vector<double>& us);
// Returns the model's products that end in one op each after passes, with that op's label and their own.
// `passed`: passed_in_own_types().
std::vector<ProductLaunch> product_groups(const Graph& model, const Graph& passed);

// Products that have one precision: in some plan one launch computes them together, or they are the same ones of
// several layers.
struct PrecisionPart {
  ProductKind kind = ProductKind::weights;
  std::vector<std::string> scopes;  // of all its labels, sorted
  std::string name() const;         // its scopes, or the first of many
  bool covers(const ProductLaunch& launch) const;
};

// Returns the scope of a label in all layers alike: words that are numbers become "*", unless nothing else is left.
std::string scope_of_layers(std::string_view label);

// Returns the parts of a model by the products that go together in the plans that were measured, sorted by their
// scopes. Products without a label have no part: no recipe can name them.
std::vector<PrecisionPart> parts_of(const std::vector<ProductLaunch>& products);

// Returns the two halves of a part: its earlier and its later layers, by the last number of its labels that is not the
// same in all of them; `products` have its labels. Empty: the part has one layer.
std::vector<PrecisionPart> halves_of(const PrecisionPart& part, const std::vector<ProductLaunch>& products);

}  // namespace rung
