// Calls with complex numbers, of which graphs have no tensors: such a value is a tensor of its real parts and one of
// its imaginary parts, until an operator makes real numbers of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/exported/spectral.hpp"
#include "import/pt2/call.hpp"

namespace rung::pt2 {

// Returns whether an argument of the call is complex, or asks for it.
bool takes_complex(const Call& call);

// Returns the call's results. Throws for operators that are not computed on parts.
Values in_complex(const Call& call);

// An argument of complex numbers, or a tensor as one without imaginary parts.
exported::Complex complex_at(const Call& call, std::string_view name);

// The same function of both parts.
template <class Function>
exported::Complex each_part(const exported::Complex& x, Function function) {
  return {function(x.real), x.imaginary ? std::optional(function(*x.imaginary)) : std::nullopt};
}

// Results of operators on complex numbers: of those that are linear in each operand, as a product of matrices is; of
// the exponential function; and of those that make tensors of one number.
Values complex_product(const Call& call);
Values complex_exp(const Call& call);
Values complex_filled(const Call& call);

// The imaginary parts, spelled out where they are 0.
NodeId imaginary_of(const Call& call, const exported::Complex& x);

// Both parts as a last axis of two.
NodeId joined(const Call& call, const exported::Complex& x);

}  // namespace rung::pt2
