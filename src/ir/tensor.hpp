// Host tensors (always row-major and contiguous), and weights: named constants whose contents are loaded on first
// request.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cassert>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/float8.hpp"
#include "base/numeric.hpp"
#include "base/status.hpp"
#include "ir/shape.hpp"

namespace rung {

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<f16>() {
  return DType::f16;
}
template <>
constexpr DType dtype_of<bf16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<f8e4m3fn>() {
  return DType::f8e4m3fn;
}
template <>
constexpr DType dtype_of<f8e4m3fnuz>() {
  return DType::f8e4m3fnuz;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

// A tensor that shares its storage when copied.
class Tensor {
 public:
  Tensor() = default;
  // Makes a zero-filled tensor, 64-byte aligned.
  explicit Tensor(Type type);
  // Shares memory owned elsewhere (a mapped file); `data` must hold type.bytes() bytes.
  Tensor(Type type, std::shared_ptr<std::byte> data) : type_(type), data_(std::move(data)) {}
  // Makes a tensor of as many values as the shape has elements; throws std::invalid_argument otherwise.
  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    want_elements({dtype_of<T>(), shape}, values.size());
    Tensor t({dtype_of<T>(), shape});
    auto out = t.as<T>();
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return t;
  }

  const Type& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  DType dtype() const { return type_.dtype; }
  int64_t elements() const { return type_.elements(); }
  size_t bytes() const { return type_.bytes(); }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  template <class T>
  std::span<T> as() {
    assert(dtype_of<T>() == type_.dtype);
    return {reinterpret_cast<T*>(data_.get()), static_cast<size_t>(elements())};
  }
  template <class T>
  std::span<const T> as() const {
    assert(dtype_of<T>() == type_.dtype);
    return {reinterpret_cast<const T*>(data_.get()), static_cast<size_t>(elements())};
  }

 private:
  static void want_elements(const Type& type, size_t count);
  Type type_;
  std::shared_ptr<std::byte> data_;
};

// A model's inputs or outputs by name.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

// Converts element by element by value, as C++ casts do (floats to bool: non-zero is true; narrowing floats round to
// nearest even, and those of 8 bits to their largest number beyond it).
Tensor convert(const Tensor& from, DType to);

// The contents of a Constant node. load() may map, generate or compute; it must return a tensor of exactly `type`.
class Weight {
 public:
  Weight(std::string name, Type type) : name_(std::move(name)), type_(type) {}
  virtual ~Weight() = default;
  const std::string& name() const { return name_; }
  const Type& type() const { return type_; }
  virtual Result<Tensor> load() const = 0;
  // Returns whether the value is already in memory and small to fetch (literals, frozen inputs); false for files and
  // generators.
  virtual bool immediate() const { return false; }

 private:
  std::string name_;
  Type type_;
};

// A weight whose value is at hand.
class Literal : public Weight {
 public:
  Literal(std::string name, Tensor value) : Weight(std::move(name), value.type()), value_(std::move(value)) {}
  Result<Tensor> load() const override { return value_; }
  bool immediate() const override { return true; }

 private:
  Tensor value_;
};

}  // namespace rung
