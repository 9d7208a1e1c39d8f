// Weights of floats that their file has in 4 bits: products of few rows read them as they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "ir/tensor.hpp"

namespace rung {

// A matrix [N,K] of f32 whose runs of G columns have a scale and an offset each: scale (number + offset).
class GroupedWeight : public Weight {
 public:
  struct Groups {
    std::shared_ptr<const Weight> numbers;  // u8 of N K/2 elements, packed as linear() reads them
    std::shared_ptr<const Weight> scales;   // f32 of N K/G elements
    std::shared_ptr<const Weight> offsets;  // i8, as many
  };
  GroupedWeight(std::string name, Type type, Groups groups)
      : Weight(std::move(name), std::move(type)), groups_(std::move(groups)) {}
  const Groups& groups() const { return groups_; }

 private:
  Groups groups_;
};

}  // namespace rung
