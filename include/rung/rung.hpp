// The public interface of rung: open a model or a plan, see what it reads and gives, run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rung::api {

// Success, or one line that says what was got and what was wanted.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(std::string message) : message_(std::move(message)) {}
  explicit operator bool() const { return message_.empty(); }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

enum class DType : uint8_t { f32, f16, bf16, i64, i32, i8, u8, boolean };

template <class T>
inline constexpr DType dtype_of = DType::boolean;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<uint8_t> = DType::u8;

// Row-major values. f16 and bf16 have no type in C++20; theirs are the bytes.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  template <class T>
  static Tensor of(std::vector<int64_t> shape, std::span<const T> values) {
    auto from = std::as_bytes(values);
    return {dtype_of<T>, std::move(shape), {from.begin(), from.end()}};
  }
  // Empty if the tensor is of another type.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> copy(dtype == dtype_of<T> ? bytes.size() / sizeof(T) : 0);
    if (!copy.empty()) std::memcpy(copy.data(), bytes.data(), copy.size() * sizeof(T));
    return copy;
  }
};
using Tensors = std::map<std::string, Tensor, std::less<>>;

// An input or an output, by the model's own name.
struct Port {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool required = true;  // an input without a default
};

struct Options {
  int threads = 0;                                     // 0: as many as the plan was built for, or all cores
  std::map<std::string, std::vector<int64_t>> shapes;  // of a model directory's inputs: {"input_ids", {1, 128}}
};

// One model, ready to answer; used by one thread at a time. Every error leaves it as it was.
class Model {
 public:
  Model();
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // A plan (*.rung), which loads as it was built, or a model directory, whose plan is built here without a climb.
  Status open(const std::string& path, const Options& options = {});
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;

  // What the model's own tokenizer makes of a text: `inputs` for run().
  Status encode(std::string_view text, Tensors& inputs) const;
  // One inference; inputs left out take their defaults.
  Status run(const Tensors& inputs, Tensors& outputs);

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

}  // namespace rung::api
