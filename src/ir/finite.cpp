// Counts NaN and infinities by bit pattern, in blocks the compiler turns into vector code.
// SPDX-License-Identifier: Apache-2.0
#include "ir/finite.hpp"

#include <algorithm>
#include <cstring>

#include "ir/mask_flow.hpp"

namespace rung {
namespace {

// Counts floats of a type in which, without the sign, values above `infinity` are NaN.
template <class Bits>
NonFinite count_bits(const std::byte* data, size_t count, Bits infinity) {
  constexpr size_t kBlock = 4096;  // counts of a block fit the element's own width, so they vectorise
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)), kMagnitude = static_cast<Bits>(~kSign);
  NonFinite total;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    Bits nan = 0, infinite = 0, minus = 0, block[kBlock];
    size_t size = std::min(kBlock, count - begin);
    std::memcpy(block, data + begin * sizeof(Bits), size * sizeof(Bits));
    for (size_t i = 0; i < size; ++i) {
      auto magnitude = static_cast<Bits>(block[i] & kMagnitude);
      nan = static_cast<Bits>(nan + (magnitude > infinity));
      infinite = static_cast<Bits>(infinite + (magnitude == infinity));
      minus = static_cast<Bits>(minus + (block[i] == static_cast<Bits>(kSign | infinity)));
    }
    total.nan += nan;
    total.infinity += infinite;
    total.minus_infinity += minus;
  }
  return total;
}

// Counts the NaNs of f8 types, which have one NaN pattern (two with the sign for fn) and no infinity.
NonFinite count_f8(const Type& type, const std::byte* values) {
  bool fn = type.dtype == DType::f8e4m3fn;
  auto is_nan = [&](std::byte b) { return fn ? (b & std::byte{0x7f}) == std::byte{0x7f} : b == std::byte{0x80}; };
  return {std::count_if(values, values + type.bytes(), is_nan), 0, 0};
}

tl::unexpected<Error> refuse_floats(const std::string& what, const Type& type, const NonFinite& found) {
  return fail("{} {}: got {} NaN and {} infinite values, wanted none", what, type, found.nan, found.infinity);
}

}  // namespace

NonFinite count_non_finite(const Type& type, const std::byte* values) {
  auto count = static_cast<size_t>(type.elements());
  switch (type.dtype) {
    case DType::f32:
      return count_bits<uint32_t>(values, count, 0x7f800000u);
    case DType::f16:
      return count_bits<uint16_t>(values, count, 0x7c00u);
    case DType::bf16:
      return count_bits<uint16_t>(values, count, 0x7f80u);
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
      return count_f8(type, values);
    default:
      return {};
  }
}

NonFinite count_non_finite(const Tensor& tensor) { return count_non_finite(tensor.type(), tensor.data()); }

Status check_finite(const std::string& what, const Tensor& tensor) {
  const NonFinite found = count_non_finite(tensor);
  if (found.nan == 0 && found.infinity == 0) return {};
  return refuse_floats(what, tensor.type(), found);
}

bool may_be_in_input(const NonFinite& found, const std::function<Tolerates()>& tolerates) {
  if (found.nan + found.infinity == 0) return true;
  const bool only_minus = found.nan == 0 && found.infinity == found.minus_infinity;
  return tolerates() >= (only_minus ? Tolerates::minus_infinity : Tolerates::all);
}

tl::unexpected<Error> refuse_input_floats(const std::string& what, const Type& type, const NonFinite& found,
                                          const std::function<Tolerates()>& tolerates) {
  if (found.minus_infinity == 0)
    return mismatch("{} {}: got {} NaN and {} infinite values, wanted none", what, type, found.nan, found.infinity);
  return mismatch(
      "{} {}: got {} NaN and {} infinite values, {} of them -inf, wanted none{}", what, type, found.nan, found.infinity,
      found.minus_infinity,
      tolerates() == Tolerates::minus_infinity ? " but -inf" : fmt::format("; -inf is for masks: where {}", kMaskRule));
}

Status check_input_floats(const std::string& what, const Tensor& tensor, const std::function<Tolerates()>& tolerates) {
  const NonFinite found = count_non_finite(tensor);
  if (may_be_in_input(found, tolerates)) return {};
  return refuse_input_floats(what, tensor.type(), found, tolerates);
}

}  // namespace rung
