// Reads the protocol buffer of an ONNX file.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/proto.hpp"

#include <protozero/pbf_reader.hpp>
#include <stdexcept>

namespace rung::onnx {
namespace {

using protozero::pbf_wire_type;

// A reader that refuses a field of another wire type than is asked for, which protozero only asserts.
class Reader : public protozero::pbf_reader {
 public:
  using pbf_reader::pbf_reader;
  explicit Reader(const pbf_reader& reader) : pbf_reader(reader) {}

  protozero::data_view get_view() { return wanted(pbf_wire_type::length_delimited).pbf_reader::get_view(); }
  Reader get_message() { return Reader(wanted(pbf_wire_type::length_delimited).pbf_reader::get_message()); }
  int32_t get_int32() { return wanted(pbf_wire_type::varint).pbf_reader::get_int32(); }
  int64_t get_int64() { return wanted(pbf_wire_type::varint).pbf_reader::get_int64(); }
  uint64_t get_uint64() { return wanted(pbf_wire_type::varint).pbf_reader::get_uint64(); }
  float get_float() { return wanted(pbf_wire_type::fixed32).pbf_reader::get_float(); }
  double get_double() { return wanted(pbf_wire_type::fixed64).pbf_reader::get_double(); }

 private:
  Reader& wanted(pbf_wire_type type) {
    if (wire_type() == type) return *this;
    throw std::out_of_range(fmt::format("field {} of wire type {}, wanted {}", static_cast<uint32_t>(tag()),
                                        static_cast<uint32_t>(wire_type()), static_cast<uint32_t>(type)));
  }
};

constexpr int kMostGraphDepth = 32;  // of graphs within graphs

std::string text(Reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

// A packed list, or one element of a list that is not packed.
template <class T, class Packed, class One>
void append(Reader& reader, std::vector<T>& list, Packed packed, One one) {
  if (reader.wire_type() != pbf_wire_type::length_delimited) return list.push_back(static_cast<T>(one()));
  for (const auto value : packed()) list.push_back(static_cast<T>(value));
}
void append(Reader& r, std::vector<int64_t>& list) {
  append(
      r, list, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); });
}
void append(Reader& r, std::vector<int32_t>& list) {
  append(
      r, list, [&] { return r.get_packed_int32(); }, [&] { return r.get_int32(); });
}
void append(Reader& r, std::vector<uint64_t>& list) {
  append(
      r, list, [&] { return r.get_packed_uint64(); }, [&] { return r.get_uint64(); });
}
void append(Reader& r, std::vector<float>& list) {
  append(
      r, list, [&] { return r.get_packed_float(); }, [&] { return r.get_float(); });
}
void append(Reader& r, std::vector<double>& list) {
  append(
      r, list, [&] { return r.get_packed_double(); }, [&] { return r.get_double(); });
}

void read_entry(Reader reader, std::map<std::string, std::string>& entries) {
  std::string key, value;
  while (reader.next()) {
    if (reader.tag() == 1)
      key = text(reader);
    else if (reader.tag() == 2)
      value = text(reader);
    else
      reader.skip();
  }
  entries[key] = value;
}

TensorProto read_tensor(Reader reader) {
  TensorProto tensor;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        append(reader, tensor.dims);
        break;
      case 2:
        tensor.data_type = reader.get_int32();
        break;
      case 4:
        append(reader, tensor.float_data);
        break;
      case 5:
        append(reader, tensor.int32_data);
        break;
      case 7:
        append(reader, tensor.int64_data);
        break;
      case 8:
        tensor.name = text(reader);
        break;
      case 9: {
        const auto view = reader.get_view();
        tensor.raw_data = {view.data(), view.size()};
        break;
      }
      case 10:
        append(reader, tensor.double_data);
        break;
      case 11:
        append(reader, tensor.uint64_data);
        break;
      case 13:
        read_entry(reader.get_message(), tensor.external_data);
        break;
      case 14:
        tensor.is_external = reader.get_int32() == 1;
        break;
      default:
        reader.skip();
    }
  }
  return tensor;
}

GraphProto read_graph(Reader reader, int depth);

AttributeProto read_attribute(Reader reader, int depth) {
  AttributeProto attribute;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        attribute.name = text(reader);
        break;
      case 2:
        attribute.f = reader.get_float();
        break;
      case 3:
        attribute.i = reader.get_int64();
        break;
      case 4:
        attribute.text = text(reader);
        break;
      case 5:
        attribute.tensor = std::make_shared<TensorProto>(read_tensor(reader.get_message()));
        break;
      case 6:
        attribute.graph = std::make_shared<GraphProto>(read_graph(reader.get_message(), depth + 1));
        break;
      case 7:
        append(reader, attribute.floats);
        break;
      case 8:
        append(reader, attribute.ints);
        break;
      case 9:
        attribute.strings.push_back(text(reader));
        break;
      case 20:
        attribute.kind = static_cast<AttributeKind>(reader.get_int32());
        break;
      case 21:
        attribute.reference = text(reader);
        break;
      default:
        reader.skip();
    }
  }
  return attribute;
}

NodeProto read_node(Reader reader, int depth) {
  NodeProto node;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        node.inputs.push_back(text(reader));
        break;
      case 2:
        node.outputs.push_back(text(reader));
        break;
      case 3:
        node.name = text(reader);
        break;
      case 4:
        node.op_type = text(reader);
        break;
      case 5:
        node.attributes.push_back(read_attribute(reader.get_message(), depth));
        break;
      case 7:
        node.domain = text(reader);
        break;
      case 8:
        node.overload = text(reader);
        break;
      case 9:
        read_entry(reader.get_message(), node.metadata);
        break;
      default:
        reader.skip();
    }
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

Extent read_extent(Reader reader) {
  Extent extent;
  while (reader.next()) {
    if (reader.tag() == 1)
      extent.size = reader.get_int64();
    else if (reader.tag() == 2)
      extent.symbol = text(reader);
    else
      reader.skip();
  }
  return extent;
}

void read_tensor_type(Reader reader, ValueInfo& value) {
  while (reader.next()) {
    if (reader.tag() == 1) {
      value.data_type = reader.get_int32();
    } else if (reader.tag() == 2) {
      value.has_shape = true;
      for (Reader shape = reader.get_message(); shape.next();) {
        if (shape.tag() == 1)
          value.shape.push_back(read_extent(shape.get_message()));
        else
          shape.skip();
      }
    } else {
      reader.skip();
    }
  }
}

ValueInfo read_value(Reader reader) {
  ValueInfo value;
  while (reader.next()) {
    if (reader.tag() == 1) {
      value.name = text(reader);
    } else if (reader.tag() == 2) {
      for (Reader type = reader.get_message(); type.next();) {
        if (type.tag() == 1)
          read_tensor_type(type.get_message(), value);
        else
          type.skip();
      }
    } else {
      reader.skip();
    }
  }
  return value;
}

GraphProto read_graph(Reader reader, int depth) {
  if (depth > kMostGraphDepth)
    throw std::out_of_range(fmt::format("graphs are nested more than {} deep", kMostGraphDepth));
  GraphProto graph;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        graph.nodes.push_back(read_node(reader.get_message(), depth));
        break;
      case 5:
        graph.initializers.push_back(read_tensor(reader.get_message()));
        break;
      case 11:
        graph.inputs.push_back(read_value(reader.get_message()));
        break;
      case 12:
        graph.outputs.push_back(read_value(reader.get_message()));
        break;
      case 15:
        throw std::out_of_range("a sparse initializer, wanted dense ones");
      default:
        reader.skip();
    }
  }
  return graph;
}

void read_opset(Reader reader, std::map<std::string, int64_t, std::less<>>& opsets) {
  std::string domain;
  int64_t version = 0;
  while (reader.next()) {
    if (reader.tag() == 1)
      domain = text(reader);
    else if (reader.tag() == 2)
      version = reader.get_int64();
    else
      reader.skip();
  }
  opsets[domain == "ai.onnx" ? "" : domain] = version;
}

FunctionProto read_function(Reader reader) {
  FunctionProto function;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        function.name = text(reader);
        break;
      case 4:
        function.inputs.push_back(text(reader));
        break;
      case 5:
        function.outputs.push_back(text(reader));
        break;
      case 7:
        function.nodes.push_back(read_node(reader.get_message(), 0));
        break;
      case 9:
        read_opset(reader.get_message(), function.opsets);
        break;
      case 10:
        function.domain = text(reader);
        break;
      case 11:
        function.defaults.push_back(read_attribute(reader.get_message(), 0));
        break;
      case 13:
        function.overload = text(reader);
        break;
      default:
        reader.skip();
    }
  }
  return function;
}

}  // namespace

Result<ModelProto> read_model(std::string_view bytes) {
  try {
    ModelProto model;
    Reader reader(bytes.data(), bytes.size());
    bool has_graph = false;
    while (reader.next()) {
      switch (reader.tag()) {
        case 7:
          model.graph = read_graph(reader.get_message(), 0);
          has_graph = true;
          break;
        case 8:
          read_opset(reader.get_message(), model.opsets);
          break;
        case 25:
          model.functions.push_back(read_function(reader.get_message()));
          break;
        default:
          reader.skip();
      }
    }
    if (!has_graph) return bad_file("got no graph, wanted an ONNX model");
    return model;
  } catch (const protozero::exception& exception) {
    return bad_file("got bytes that are no ONNX model: {}", exception.what());
  } catch (const std::out_of_range& error) {
    return bad_file("got {}", error.what());
  }
}

}  // namespace rung::onnx
