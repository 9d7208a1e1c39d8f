// An ONNX file as plain structs: what its protocol buffer says, before anything is made of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace rung::onnx {

// Source: onnx.proto3 of ONNX 1.20; names are its own. Views point into the file's bytes.
struct TensorProto {
  std::string name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::string_view raw_data;
  std::vector<float> float_data;
  std::vector<int32_t> int32_data;
  std::vector<int64_t> int64_data;
  std::vector<double> double_data;
  std::vector<uint64_t> uint64_data;
  bool is_external = false;
  std::map<std::string, std::string> external_data;  // location, offset, length
};

struct GraphProto;
// The kinds of attributes that are read; 0: an old file that does not say.
enum class AttributeKind : uint8_t {
  unsaid = 0,
  f = 1,
  i = 2,
  s = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  ints = 7,
  strings = 8
};

struct AttributeProto {
  AttributeKind kind = AttributeKind::unsaid;
  std::string name, text, reference;  // reference: the attribute of the function that calls, whose value this takes
  float f = 0;
  int64_t i = 0;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::shared_ptr<const TensorProto> tensor;
  std::shared_ptr<const GraphProto> graph;
};

struct NodeProto {
  std::string name, op_type, domain, overload;
  std::vector<std::string> inputs, outputs;  // an empty name: left out
  std::vector<AttributeProto> attributes;
  std::map<std::string, std::string> metadata;
};

// The extents of a value: a number, a symbol, or neither.
struct Extent {
  int64_t size = -1;
  std::string symbol;
};

struct ValueInfo {
  std::string name;
  int64_t data_type = 0;  // 0: no tensor
  bool has_shape = false;
  std::vector<Extent> shape;
};

struct GraphProto {
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct FunctionProto {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> defaults;  // of attributes that a call leaves out
  std::vector<NodeProto> nodes;
  std::map<std::string, int64_t, std::less<>> opsets;
};

struct ModelProto {
  GraphProto graph;
  std::map<std::string, int64_t, std::less<>> opsets;  // version by domain; "": ONNX's own
  std::vector<FunctionProto> functions;
};

// Reads a model. Errors: bytes that are no protocol buffer of a model, or graphs nested too deeply.
Result<ModelProto> read_model(std::string_view bytes);

}  // namespace rung::onnx
