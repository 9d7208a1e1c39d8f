// Division of whole numbers that leaves nothing over.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

namespace rung {

template <class Int>
constexpr Int divide_up(Int x, std::type_identity_t<Int> by) {
  return (x + by - 1) / by;
}
template <class Int>
constexpr Int round_up(Int x, std::type_identity_t<Int> multiple) {
  return divide_up(x, multiple) * multiple;
}

}  // namespace rung
