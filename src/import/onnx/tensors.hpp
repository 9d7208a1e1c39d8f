// Tensors of an ONNX file: their types, and their values in the file or beside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "base/mapped_file.hpp"
#include "import/onnx/proto.hpp"
#include "ir/tensor.hpp"

namespace rung::onnx {

// Returns the type of tensors that have these elements, or that carry them. Source: onnx.proto3, TensorProto.DataType.
// Errors: f64, strings and complex numbers, which none carries, by name.
Result<DType> dtype_of_number(int64_t data_type);

// An element type of files that tensors of ours do not have: another type carries its values, each exactly.
struct Carried {
  int64_t number;
  std::string_view name;
  DType carrier;
  int bits;
  bool is_signed;
};
// None: tensors of ours have the type, or no type of theirs carries it.
std::optional<Carried> carried_type(int64_t data_type);

// Opens the files beside a model that hold weights, each once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}
  // Errors: a location outside the model's folder, or through a link; no such file.
  Result<std::shared_ptr<MappedFile>> open(const std::string& location);

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<MappedFile>> files_;
};

// Returns a weight over a tensor's bytes, which stay in `file` or in a file beside it. Types that the graph has not are
// converted where each value is kept: f64 to f32, unsigned and 16-bit integers to wider ones. Errors: values that are
// not, bytes that are too few, a shape out of range.
Result<std::shared_ptr<const Weight>> weight_of(const TensorProto& tensor, const std::shared_ptr<MappedFile>& file,
                                                ExternalFiles& external);

// Returns the bytes of a tensor that a file has; empty: its values are listed one by one. Errors: as weight_of().
Result<std::string_view> bytes_in_file(const TensorProto& tensor, ExternalFiles& external);

}  // namespace rung::onnx
