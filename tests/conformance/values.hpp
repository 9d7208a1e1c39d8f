// What the inputs of the suite's problems hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/tensor.hpp"

namespace rung::test {

// Returns a tensor whose elements follow from what the input's name begins with ("mask", "index", "w"), from the whole
// name and from their position alone: inputs of one name share their first elements, whatever their shapes.
Tensor filled(const std::string& name, const Type& type);

}  // namespace rung::test
