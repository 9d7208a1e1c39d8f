// Writes ONNX files for tests and fuzzers: each message of onnx.proto3 as a string of bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace rung::onnx_file {

using protozero::pbf_writer;
using Messages = std::vector<std::string>;
using Names = std::vector<std::string>;

// Numbers of element types and of kinds of attributes, as in onnx.proto3.
enum : int32_t { kFloat = 1, kInt64 = 7, kBool = 9, kDouble = 11, kUint64 = 13 };
enum : int32_t { kIntKind = 2, kTensorKind = 4, kGraphKind = 5, kFloatKind = 1, kIntsKind = 7 };

// A message with what `fill` writes into it.
template <class Fill>
inline std::string message(Fill fill) {
  std::string bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

template <class T>
inline std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string tensor(const std::string& name, int32_t type, const std::vector<int64_t>& sizes,
                          const std::string& bytes) {
  return message([&](pbf_writer& to) {
    to.add_packed_int64(1, sizes.begin(), sizes.end());
    to.add_int32(2, type);
    to.add_string(8, name);
    to.add_bytes(9, bytes);
  });
}
inline std::string floats(const std::string& name, const std::vector<float>& values) {
  return tensor(name, kFloat, {static_cast<int64_t>(values.size())}, raw(values));
}
inline std::string truth(const std::string& name, char value) { return tensor(name, kBool, {}, {value}); }
// Two floats that lie in another file.
inline std::string external(const std::string& name, const std::map<std::string, std::string>& place) {
  return message([&](pbf_writer& to) {
    to.add_int64(1, 2);
    to.add_int32(2, kFloat);
    to.add_string(8, name);
    for (const auto& one : place)
      to.add_message(13, message([&](pbf_writer& entry) {
                       entry.add_string(1, one.first);
                       entry.add_string(2, one.second);
                     }));
    to.add_int32(14, 1);
  });
}

template <class Fill>
inline std::string attribute(const std::string& name, int32_t kind, Fill fill) {
  return message([&](pbf_writer& to) {
    to.add_string(1, name);
    to.add_int32(20, kind);
    fill(to);
  });
}
inline std::string number(const std::string& name, float value) {
  return attribute(name, kFloatKind, [&](pbf_writer& to) { to.add_float(2, value); });
}
inline std::string integers(const std::string& name, const std::vector<int64_t>& values) {
  return attribute(name, kIntsKind, [&](pbf_writer& to) { to.add_packed_int64(8, values.begin(), values.end()); });
}
inline std::string reference(const std::string& name, int32_t kind, const std::string& of_function) {
  return attribute(name, kind, [&](pbf_writer& to) { to.add_string(21, of_function); });
}

struct Node {
  std::string op;
  Names inputs, outputs;
  Messages attributes = {};
  std::string domain = "", overload = "", name = "";
};
inline std::string node(const Node& node) {
  return message([&](pbf_writer& to) {
    for (const auto& input : node.inputs) to.add_string(1, input);
    for (const auto& output : node.outputs) to.add_string(2, output);
    to.add_string(3, node.name);
    to.add_string(4, node.op);
    for (const auto& one : node.attributes) to.add_message(5, one);
    to.add_string(7, node.domain);
    to.add_string(8, node.overload);
  });
}

inline std::string fixed(int64_t size) {
  return message([&](pbf_writer& to) { to.add_int64(1, size); });
}
inline std::string open(const std::string& symbol) {
  return message([&](pbf_writer& to) { to.add_string(2, symbol); });
}
inline std::string value(const std::string& name, int32_t type, const Messages& sizes) {
  const std::string shape = message([&](pbf_writer& to) {
    for (const auto& size : sizes) to.add_message(1, size);
  });
  const std::string tensor_type = message([&](pbf_writer& to) {
    to.add_int32(1, type);
    to.add_message(2, shape);
  });
  return message([&](pbf_writer& to) {
    to.add_string(1, name);
    to.add_message(2, message([&](pbf_writer& kind) { kind.add_message(1, tensor_type); }));
  });
}

inline std::string opset(const std::string& domain, int64_t version) {
  return message([&](pbf_writer& to) {
    to.add_string(1, domain);
    to.add_int64(2, version);
  });
}

struct Graph {
  Messages nodes, initializers, inputs, outputs;
  std::string bytes() const {
    return message([&](pbf_writer& to) {
      for (const auto& one : nodes) to.add_message(1, one);
      for (const auto& one : initializers) to.add_message(5, one);
      for (const auto& one : inputs) to.add_message(11, one);
      for (const auto& one : outputs) to.add_message(12, one);
    });
  }
};
inline std::string branch(const std::string& name, const Graph& graph) {
  return attribute(name, kGraphKind, [&](pbf_writer& to) { to.add_message(6, graph.bytes()); });
}

// A function of "x" whose result is "y".
struct Function {
  std::string name;
  Messages nodes;
  Messages defaults = {};
  std::string overload = "";
  int64_t version = 18;
  std::string bytes() const {
    return message([&](pbf_writer& to) {
      to.add_string(1, name);
      to.add_string(4, "x");
      to.add_string(5, "y");
      for (const auto& one : nodes) to.add_message(7, one);
      to.add_message(9, opset("", version));
      to.add_string(10, "local");
      for (const auto& one : defaults) to.add_message(11, one);
      to.add_string(13, overload);
    });
  }
};

// A whole file, of opset 18.
inline std::string model(const Graph& graph, const std::vector<Function>& functions = {}) {
  return message([&](pbf_writer& to) {
    to.add_message(8, opset("", 18));
    for (const auto& function : functions) to.add_message(25, function.bytes());
    to.add_message(7, graph.bytes());
  });
}

}  // namespace rung::onnx_file
