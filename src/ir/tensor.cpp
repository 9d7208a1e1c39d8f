// Stores host tensors and converts dtypes.
// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "base/big_block.hpp"
#include "ir/with_type.hpp"

namespace rung {
namespace {

constexpr size_t kLarge = 8 << 20;  // huge pages from here on: few faults, zeroed already, a quarter unused at most

std::shared_ptr<std::byte> allocate_zeroed(size_t bytes) {
  size_t rounded = (bytes + 63) / 64 * 64 + 64;  // never empty; a vector past the end stays readable
  if (bytes >= kLarge) {
    auto block = allocate_block(rounded);
    if (!block) throw std::bad_alloc();
    return block;
  }
  auto* data = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
  if (!data) throw std::bad_alloc();
  std::memset(data, 0, rounded);
  return {data, [](std::byte* p) { std::free(p); }};
}

// Returns the lowest number for NaN and for numbers beyond the type's range, as x86's conversion does.
template <class To>
To truncated(double value) {
  constexpr double kFirst = static_cast<double>(std::numeric_limits<To>::min()),
                   kEnd = static_cast<double>(std::numeric_limits<To>::max()) + 1;
  return value >= kFirst && value < kEnd ? static_cast<To>(value) : std::numeric_limits<To>::min();
}

template <class From, class To>
To convert_value(From value) {
  if constexpr (kStoredFloat<From>)
    return convert_value<float, To>(static_cast<float>(value));
  else if constexpr (kStoredFloat<To>)
    return To(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bool>)
    return value != From{};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return truncated<To>(value);
  else
    return static_cast<To>(value);
}

template <class From, class To>
void convert_all(const Tensor& from, Tensor& to) {
  auto in = from.as<From>();
  auto out = to.as<To>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = convert_value<From, To>(in[i]);
}

}  // namespace

Tensor::Tensor(Type type) : type_(type), data_(allocate_zeroed(type.bytes())) {}

void Tensor::want_elements(const Type& type, size_t count) {
  if (static_cast<size_t>(type.elements()) != count)
    throw std::invalid_argument(fmt::format("got {} values for {}", count, type));
}

Tensor convert(const Tensor& from, DType to) {
  if (from.dtype() == to) return from;
  Tensor out({to, from.shape()});
  with_type(from.dtype(), [&](auto source) {
    with_type(to, [&](auto target) { convert_all<decltype(source), decltype(target)>(from, out); });
  });
  return out;
}

}  // namespace rung
