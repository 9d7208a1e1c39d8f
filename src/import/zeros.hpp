// A state's first value, which takes no memory until it is asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/tensor.hpp"

namespace rung {

class Zeros : public Weight {
 public:
  using Weight::Weight;
  Result<Tensor> load() const override { return Tensor(type()); }
};

}  // namespace rung
