// The public interface of rung: open a model or a plan, see what it reads and gives, run it. Nothing is thrown across
// it: no memory, too, is a Status. (Tensor's own functions take memory as std::vector does.)
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
#include <type_traits>
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
constexpr DType dtype_of() = delete;  // of a type that no tensor has: double, long long, unsigned ones but uint8_t
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
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
template <class T>
concept Element = requires {
  dtype_of<T>();
};

// Row-major values. f16 and bf16 have no type in C++20; theirs are the bytes.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  template <Element T>
  static Tensor of(std::vector<int64_t> shape, std::span<const T> values) {
    auto from = std::as_bytes(values);
    return {dtype_of<T>(), std::move(shape), {from.begin(), from.end()}};
  }
  // Empty if the tensor is of another type.
  template <Element T>
  std::vector<T> values() const {
    std::vector<T> copy(dtype == dtype_of<T>() ? bytes.size() / sizeof(T) : 0);
    if constexpr (std::is_same_v<T, bool>) {
      for (size_t i = 0; i < copy.size(); ++i) copy[i] = bytes[i] != std::byte{0};
    } else if (!copy.empty()) {
      std::memcpy(copy.data(), bytes.data(), copy.size() * sizeof(T));
    }
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
  // "cpu", "cuda" (the first NVIDIA GPU) or "cuda:1" (the second). Empty: what a plan was built for (the first device
  // of that kind), the processor for a model directory. A plan runs on the device that it was built for, and on no
  // other.
  std::string device;
  // Of the processor, at most 1024; 0: as many as the plan was built for, or as there are cores. Without meaning on a
  // GPU.
  int threads = 0;
  // Of a model directory's inputs, in elements: {"input_ids", {1, 128}}. A plan has its own.
  std::map<std::string, std::vector<int64_t>> shapes;
};

// One model, ready to answer. Every error leaves it as it was, and the tensors that it was to fill.
//
// Threads: one at a time uses a Model, and it may be another every time: that which opens it, that which runs it, that
// which ends it. Several Models, of one file and one device too, may be used at once, each by a thread of its own;
// their answers are those that they give alone.
//
// A GPU: its device has one context for the whole process, CUDA's primary one, which other users of CUDA share. A call
// makes it current on the calling thread while it runs, and then the one that was current before; where there was none,
// it stays.
//
// Signals: threads that rung starts handle none. The thread that calls open() or run() handles none (but for its own
// faults) while a library's code runs on it that no handler may interrupt; they are handled when that is done, at the
// latest when the call returns. A host has nothing to do for that.
class Model {
 public:
  Model();
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // A plan (*.rung), which loads as it was built, or a model directory, whose plan is built here without a climb.
  // Errors: no such file, or one that is damaged; a word that names no device, a device that is not there, another than
  // the plan was built for; threads or shapes that the plan does not have; no memory, on the host or on the device.
  Status open(const std::string& path, const Options& options = {});
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;

  // What the model's own tokenizer makes of a text: `inputs` for run(), of shape {1, length} each. Errors: the model
  // has no tokenizer; an input of another shape; one that is frozen at another value than the text's.
  Status encode(std::string_view text, Tensors& inputs) const;
  // One inference, from host memory to host memory, complete on return; inputs left out take their defaults. Errors
  // name the input (unknown, of another type or shape, out of range, NaN or an infinity but for -inf in a mask,
  // missing, frozen at another value) or the op: an index out of range, an integer divided by zero. After a device
  // failed nothing runs on it any more.
  Status run(const Tensors& inputs, Tensors& outputs);

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

}  // namespace rung::api
