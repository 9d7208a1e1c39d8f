// Plans of one model, each for its own set of input shapes, over shared weights: the contents of a plan file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace rung {

using Shapes = std::map<std::string, Shape, std::less<>>;  // by the input's name

// Finds weights with equal contents, so that plans of one model hold each block once.
class SharedWeights {
 public:
  // Lets the plan's weights be blocks of the plans before it, where these are equal.
  void share(Plan& plan);

 private:
  std::map<std::pair<std::string, uint64_t>, std::vector<std::shared_ptr<const std::byte>>> by_name_;
};

class PlanSet {
 public:
  explicit PlanSet(std::shared_ptr<const Plan> only) : plans_{std::move(only)} {}
  // Shares equal weights in memory. Errors (mismatch): no plan; plans of several models or devices; plans with other
  // inputs or outputs that share no state with the first; two plans for the same shapes; a state that differs between
  // plans, or that plans read and none writes first.
  static Result<PlanSet> make(std::vector<Plan> plans);

  size_t size() const { return plans_.size(); }
  const std::shared_ptr<const Plan>& operator[](size_t index) const { return plans_[index]; }
  auto begin() const { return plans_.begin(); }
  auto end() const { return plans_.end(); }
  const Plan& first() const { return *plans_[0]; }

  // Returns the index of the one plan whose inputs have these shapes; inputs that are not named may have any shape.
  // Among plans with other inputs those that have the most of the names count. Unknown names are ignored. Errors
  // (mismatch): no plan has them, or several have; both list the shapes served.
  Result<size_t> serving(const Shapes& shapes) const;
  // Returns "input_ids=1,16 attention_mask=1,16; input_ids=1,128 attention_mask=1,128".
  std::string served() const;
  // Returns the bytes of the weights of all plans, each block counted once.
  uint64_t weight_bytes() const;

 private:
  explicit PlanSet(std::vector<std::shared_ptr<const Plan>> plans) : plans_(std::move(plans)) {}
  std::vector<std::shared_ptr<const Plan>> plans_;  // at least one
};

// Returns the shapes of a plan's inputs, including frozen ones.
Shapes input_shapes(const Plan& plan);
Shapes shapes_of(const NamedTensors& tensors);
// Returns "input_ids=1,128 attention_mask=1,128", as command-line options write shapes.
std::string shape_words(const Shapes& shapes);

}  // namespace rung
