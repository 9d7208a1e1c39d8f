// Makes a model of an ONNX graph: every node becomes nodes of ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>

#include "import/model.hpp"
#include "import/onnx/caches.hpp"
#include "import/onnx/call.hpp"
#include "import/onnx/elements.hpp"
#include "import/onnx/repeats.hpp"
#include "import/onnx/sequences.hpp"
#include "import/onnx/tensors.hpp"

namespace rung::onnx {

// The values that stand behind the names of a graph.
using Environment = std::map<std::string, NodeId, std::less<>>;

// Its own name, or what it computes.
std::string name_of_node(const NodeProto& node);

class Program {
 public:
  Program(std::shared_ptr<MappedFile> file, ModelProto model, const ImportOptions& options);
  // Errors name the file, the node with its operator, and the author's module and line where the file has them.
  Result<Model> import();

 private:
  Status check_opset(const std::map<std::string, int64_t, std::less<>>& opsets) const;
  Status bind_symbols();
  Status add_initializers(const GraphProto& graph, Environment& names);
  Status add_inputs();
  Status add_outputs();
  Result<Shape> shape_of(const ValueInfo& input) const;

  // Adds the nodes of a graph or a function, at this depth of them.
  Status run(const std::vector<NodeProto>& nodes, Environment& names, int depth);
  Status define(const std::string& name, NodeId value, Environment& names);
  Status run_node(const NodeProto& node, Environment& names, int depth);
  Result<Outputs> outputs_of(const NodeProto& node, Environment& names, int depth);
  Result<Outputs> constant(const NodeProto& node);
  // Nodes with graphs of their own: a branch that is known at import, and rounds whose number is.
  Result<Outputs> branch(const NodeProto& node, const Environment& names, int depth);
  Result<Outputs> loop(const NodeProto& node, const Environment& names, int depth);
  Result<Outputs> scan(const NodeProto& node, const Environment& names, int depth);
  Result<Outputs> flex_attention(const NodeProto& node, const Environment& names, int depth);
  Result<Outputs> run_graph(const GraphProto& graph, const Outputs& inputs, const Environment& outer, int depth);
  Result<Outputs> call_function(const FunctionProto& function, const NodeProto& node, const Inputs& inputs, int depth);
  const FunctionProto* function_named(const NodeProto& node) const;
  Result<NodeId> node_of(const TensorProto& tensor);
  NodeId once(NodeId node, const Shape& part, const std::string& name);
  DType computed(DType dtype) const { return options_.dtype && is_narrow(dtype) ? *options_.dtype : dtype; }

  std::shared_ptr<MappedFile> file_;
  ModelProto proto_;
  const ImportOptions& options_;
  ExternalFiles external_;
  Model model_;
  GraphBuilder builder_{model_.graph};
  Environment names_;
  const std::map<std::string, int64_t, std::less<>>* opsets_ = &proto_.opsets;  // of the graph or function being run
  Repeats repeats_;
  Elements elements_;
  Sequences sequences_;
  Caches caches_;
  size_t nodes_ = 0;                        // run so far, those of functions at each call
  std::map<std::string, int64_t> symbols_;  // sizes that the options or the inputs' shapes settle
};

}  // namespace rung::onnx
