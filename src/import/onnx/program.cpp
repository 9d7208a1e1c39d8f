// Reads an ONNX graph's inputs, weights and nodes, and adds the nodes of each.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/program.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "import/exported/inputs.hpp"
#include "import/exported/source_line.hpp"
#include "ir/checked_shape.hpp"

namespace rung::onnx {
std::string name_of_node(const NodeProto& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? node.op_type : node.outputs[0];
}

namespace {

constexpr int64_t kOldestOpset = 1, kNewestOpset = 28;
constexpr size_t kMostNodes = 1'000'000;
constexpr int kMostCallDepth = 32;  // of functions and branches within each other

std::string metadata(const NodeProto& node, const char* key) {
  const auto found = node.metadata.find(key);
  return found == node.metadata.end() ? "" : found->second;
}

// "encoder.layer.0.attention", of PyTorch's exporter: the last of "['', 'encoder', ..., 'linear']" but one.
std::string module_of(const NodeProto& node) {
  const std::string scopes = metadata(node, "pkg.torch.onnx.name_scopes");
  std::vector<std::string> names;
  for (size_t begin = scopes.find('\''); begin != scopes.npos;) {
    const size_t end = scopes.find('\'', begin + 1);
    if (end == scopes.npos) break;
    names.push_back(scopes.substr(begin + 1, end - begin - 1));
    begin = scopes.find('\'', end + 1);
  }
  return names.size() < 2 ? "" : names[names.size() - 2];
}

std::string described(const NodeProto& node) {
  std::string text =
      fmt::format("node '{}' ({}{}{}", name_of_node(node), node.domain, node.domain.empty() ? "" : ".", node.op_type);
  if (const std::string module = module_of(node); !module.empty()) text += " in " + module;
  if (const std::string line = exported::source_line(metadata(node, "pkg.torch.onnx.stack_trace")); !line.empty())
    text += "; " + line;
  return text + ")";
}

std::string label_of(const NodeProto& node) {
  const std::string module = module_of(node), name = name_of_node(node);
  return module.empty() ? name : module + "." + name;
}

}  // namespace

Program::Program(std::shared_ptr<MappedFile> file, ModelProto model, const ImportOptions& options)
    : file_(std::move(file)),
      proto_(std::move(model)),
      options_(options),
      external_(std::filesystem::path(file_->path()).parent_path().string()),
      caches_(builder_, model_, options.cache.length) {}

Result<Model> Program::import() {
  try {
    RUNG_CHECK(check_opset(proto_.opsets));
    RUNG_CHECK(bind_symbols());
    RUNG_CHECK(add_initializers(proto_.graph, names_));
    RUNG_CHECK(add_inputs());
    RUNG_CHECK(run(proto_.graph.nodes, names_, 0));
    RUNG_CHECK(add_outputs());
  } catch (const std::out_of_range& error) {
    return bad_file("'{}': {}", file_->path(), error.what());
  }
  model_.graph.erase_dead();
  exported::settle_inputs(model_);
  if (caches_.are_bound()) caches_.settle();
  model_.architecture = "onnx";
  return std::move(model_);
}

Status Program::check_opset(const std::map<std::string, int64_t, std::less<>>& opsets) const {
  const auto own = opsets.find("");
  if (own == opsets.end() && !opsets.empty()) return {};  // operators of other domains alone
  if (own != opsets.end() && own->second >= kOldestOpset && own->second <= kNewestOpset) return {};
  return bad_file("'{}': got opset {}, wanted {} to {}", file_->path(),
                  own == opsets.end() ? "none" : fmt::to_string(own->second), kOldestOpset, kNewestOpset);
}

// A symbol's size, by its own name or by an input's shape.
Status Program::bind_symbols() {
  std::set<std::string> inputs;
  for (const ValueInfo& input : proto_.graph.inputs) {
    inputs.insert(input.name);
    for (const auto* shapes : {&options_.shapes, &options_.given}) {
      const auto found = shapes->find(input.name);
      if (found == shapes->end()) continue;
      if (input.has_shape && input.shape.size() != static_cast<size_t>(found->second.rank()))
        return mismatch("input '{}': got shape {}, wanted {} axes", input.name, found->second, input.shape.size());
      for (size_t i = 0; i < input.shape.size(); ++i)
        if (!input.shape[i].symbol.empty())
          symbols_.try_emplace(input.shape[i].symbol, found->second[static_cast<int>(i)]);
    }
  }
  for (const auto& [name, shape] : options_.shapes)
    if (!inputs.contains(name) && shape.rank() == 1) symbols_[name] = shape[0];
  if (auto found = caches_.find(proto_.graph, symbols_); !found) return fail_in(found.error(), "'{}'", file_->path());
  return {};
}

Result<Shape> Program::shape_of(const ValueInfo& input) const {
  const Shape* asked = nullptr;
  for (const auto* shapes : {&options_.given, &options_.shapes})
    if (const auto found = shapes->find(input.name); found != shapes->end()) asked = &found->second;
  if (!input.has_shape) {
    if (asked) return *asked;
    return mismatch("input '{}': its shape is open: give --shape {}=...", input.name, input.name);
  }
  std::vector<uint64_t> extents;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    const Extent& extent = input.shape[i];
    if (extent.size >= 0 && extent.symbol.empty()) {
      extents.push_back(static_cast<uint64_t>(extent.size));
    } else if (const auto found = symbols_.find(extent.symbol); !extent.symbol.empty() && found != symbols_.end()) {
      extents.push_back(static_cast<uint64_t>(found->second));
    } else if (asked && extent.symbol.empty()) {
      extents.push_back(static_cast<uint64_t>((*asked)[static_cast<int>(i)]));
    } else {
      const std::string word = extent.symbol.empty() ? fmt::format("of axis {}", i) : extent.symbol;
      return mismatch("input '{}': its size {} is open: give --shape {}=...{}", input.name, word, input.name,
                      extent.symbol.empty() ? "" : fmt::format(" or --shape {}=SIZE", word));
    }
  }
  auto checked = checked_shape(extents);
  if (!checked) return fail_in(checked.error(), "'{}': input '{}'", file_->path(), input.name);
  const Shape shape = *checked;
  if (asked && *asked != shape) return mismatch("input '{}': got shape {}, wanted {}", input.name, *asked, shape);
  return shape;
}

Result<NodeId> Program::node_of(const TensorProto& tensor) {
  auto weight = weight_of(tensor, file_, external_);
  if (!weight) return fail_in(weight.error(), "'{}': tensor '{}'", file_->path(), tensor.name);
  const Type type = (*weight)->type();
  const bool as_stored = !carried_type(tensor.data_type);
  RUNG_TRY(const std::string_view bytes, as_stored ? bytes_in_file(tensor, external_) : std::string_view());
  NodeId node = kNoNode;
  if (type.elements() > exported::kMostSmall) {
    if (const auto repeated = repeats_.find(type, bytes); repeated && !bytes.empty()) return *repeated;
    node = model_.graph.constant(std::move(*weight));
  } else {
    auto value = (*weight)->load();
    if (!value) return bad_file("'{}': {}", file_->path(), value.error().message);
    node = model_.graph.literal(tensor.name, std::move(*value));
  }
  elements_.note(node, tensor.data_type);
  if (is_float(type.dtype) && type.shape.rank() > 2) node = once(node, without_copies(type, bytes), tensor.name);
  node = builder_.cast(node, computed(type.dtype), tensor.name);
  if (type.elements() > exported::kMostSmall) repeats_.note(type, bytes, node);
  return node;
}

// A tensor as the broadcast of what it repeats, so that passes see that its rows are the same.
NodeId Program::once(NodeId node, const Shape& part, const std::string& name) {
  const Shape whole = model_.graph.shape(node);
  if (part == whole) return node;
  for (int axis = 0; axis < part.rank(); ++axis)
    if (part[axis] != whole[axis]) node = builder_.op(Slice{axis, 0, 1, 1}, {node}, name);
  return builder_.op(Broadcast{whole}, {node}, name);
}

Status Program::add_initializers(const GraphProto& graph, Environment& names) {
  for (const TensorProto& tensor : graph.initializers) {
    RUNG_TRY(const NodeId node, node_of(tensor));
    RUNG_CHECK(define(tensor.name, node, names));
  }
  return {};
}

// Each name stands for one value, but for those of an outer graph, which a branch may hide.
Status Program::define(const std::string& name, NodeId value, Environment& names) {
  const auto [found, is_new] = names.emplace(name, value);
  return is_new ? Status{} : bad_file("'{}': two values are named '{}'", file_->path(), name);
}

Status Program::add_inputs() {
  for (const ValueInfo& input : proto_.graph.inputs) {
    if (names_.contains(input.name)) continue;  // an initializer that older files list among the inputs
    const auto dtype = dtype_of_number(input.data_type);
    if (!dtype) return fail_in(dtype.error(), "'{}': input '{}'", file_->path(), input.name);
    RUNG_TRY(const Shape shape, shape_of(input));
    auto bound = caches_.input(input.name, {computed(*dtype), shape});
    if (!bound) return fail_in(bound.error(), "'{}'", file_->path());
    if (*bound) {
      names_[input.name] = **bound;
      continue;
    }
    const NodeId node = exported::add_input(model_, input.name, {*dtype, shape});
    const auto frozen = options_.frozen.find(input.name);
    const bool known = frozen != options_.frozen.end() && frozen->second.type() == Type{*dtype, shape};
    const NodeId value = known ? model_.graph.literal(input.name, frozen->second) : node;
    elements_.note(value, input.data_type);
    names_[input.name] = builder_.cast(value, computed(*dtype), input.name);
  }
  return {};
}

Status Program::run(const std::vector<NodeProto>& nodes, Environment& names, int depth) {
  if (depth > kMostCallDepth)
    return bad_file("'{}': functions call each other more than {} deep", file_->path(), kMostCallDepth);
  for (const NodeProto& node : nodes) RUNG_CHECK(run_node(node, names, depth));
  return {};
}

Status Program::run_node(const NodeProto& node, Environment& names, int depth) {
  if (++nodes_ > kMostNodes) return bad_file("'{}': functions make more than {} nodes", file_->path(), kMostNodes);
  Result<Outputs> results = fail("");
  try {
    results = outputs_of(node, names, depth);
  } catch (const std::out_of_range& error) {
    results = bad_file("{}", error.what());
  }
  if (!results && depth > 0) return fail_in(results.error(), "{}", described(node));
  if (!results) return fail_in(results.error(), "'{}': {}", file_->path(), described(node));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (i < results->size() && !node.outputs[i].empty() && (*results)[i] != kNoNode)
      RUNG_CHECK(define(node.outputs[i], (*results)[i], names));
  return {};
}

const FunctionProto* Program::function_named(const NodeProto& node) const {
  const auto found = std::ranges::find_if(proto_.functions, [&](const FunctionProto& function) {
    return function.name == node.op_type && function.domain == node.domain && function.overload == node.overload;
  });
  return found == proto_.functions.end() ? nullptr : &*found;
}

Result<Outputs> Program::outputs_of(const NodeProto& node, Environment& names, int depth) {
  if (node.op_type == "Constant" && node.domain.empty()) return constant(node);
  if (node.domain.empty() && node.op_type == "If") return branch(node, names, depth);
  if (node.domain.empty() && node.op_type == "Loop") return loop(node, names, depth);
  if (node.domain.empty() && node.op_type == "Scan") return scan(node, names, depth);
  if (node.domain == "ai.onnx.preview" && node.op_type == "FlexAttention") return flex_attention(node, names, depth);
  Inputs inputs;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const auto found = names.find(name);
    if (found == names.end()) return bad_file("'{}' is read before it is computed", name);
    inputs.emplace_back(found->second);
  }
  if (inputs.size() == 2 && inputs[1] && !sequences_.find(*inputs[1])) {
    RUNG_TRY(const std::optional<NodeId> joined, caches_.joined(node, *inputs[1]));
    if (joined) return Outputs{*joined};
  }
  if (const FunctionProto* function = function_named(node)) return call_function(*function, node, inputs, depth);
  const auto version = opsets_->find(node.domain);
  const Site site{node, label_of(node), std::move(inputs), version == opsets_->end() ? 1 : version->second, &elements_};
  const Call call(builder_, site, [this](const TensorProto& tensor) -> Result<Tensor> {
    RUNG_TRY(const auto weight, weight_of(tensor, file_, external_));
    return weight->load();
  });
  if (auto outputs = sequences_.outputs_of(call)) return *std::move(outputs);
  const Lower lower = operator_named(node.domain, node.op_type);
  if (!lower) return bad_file("{}", why_unknown(node.domain, node.op_type));
  if (node.op_type == "Cast" && node.domain.empty() && options_.dtype && !carried_type(call.integer("to"))) {
    RUNG_TRY(const DType dtype, dtype_of_number(call.integer("to")));
    return Outputs{call.cast(call[0], computed(dtype))};
  }
  elements_.check(call);
  return elements_.settled(call, lower(call));
}

Result<Outputs> Program::constant(const NodeProto& node) {
  for (const AttributeProto& attribute : node.attributes) {
    if (attribute.tensor) {
      RUNG_TRY(const NodeId value, node_of(*attribute.tensor));
      return Outputs{value};
    }
    const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    const std::string& name = attribute.name;
    std::optional<Tensor> value;
    if (name == "value_float") value = Tensor::of<float>({}, {attribute.f});
    if (name == "value_int") value = Tensor::of<int64_t>({}, {attribute.i});
    if (name == "value_floats") value = Tensor::of<float>({count(attribute.floats)}, attribute.floats);
    if (name == "value_ints") value = Tensor::of<int64_t>({count(attribute.ints)}, attribute.ints);
    if (value) return Outputs{model_.graph.literal(name_of_node(node), *value)};
  }
  return bad_file("got a constant without numbers");
}

// A function's nodes with the call's inputs and attributes in place of its own.
Result<Outputs> Program::call_function(const FunctionProto& function, const NodeProto& node, const Inputs& inputs,
                                       int depth) {
  Environment inner;
  for (size_t i = 0; i < std::min(inputs.size(), function.inputs.size()); ++i)
    if (inputs[i]) inner[function.inputs[i]] = *inputs[i];
  std::vector<NodeProto> nodes = function.nodes;
  for (NodeProto& one : nodes) {
    if (one.metadata.empty()) one.metadata = node.metadata;
    std::erase_if(one.attributes, [&](AttributeProto& attribute) {
      if (attribute.reference.empty()) return false;
      auto given = std::ranges::find(node.attributes, attribute.reference, &AttributeProto::name);
      if (given == node.attributes.end()) {
        given = std::ranges::find(function.defaults, attribute.reference, &AttributeProto::name);
        if (given == function.defaults.end()) return true;
      }
      const std::string name = attribute.name;
      attribute = *given;
      attribute.name = name;
      return false;
    });
  }
  const auto* own = function.opsets.contains("") ? &function.opsets : opsets_;
  RUNG_CHECK(check_opset(*own));
  const auto* outer = std::exchange(opsets_, own);
  const Status status = run(nodes, inner, depth + 1);
  opsets_ = outer;
  RUNG_CHECK(status);
  Outputs results;
  for (const std::string& output : function.outputs) {
    const auto result = inner.find(output);
    if (result == inner.end()) return bad_file("its result '{}' is not computed", output);
    results.push_back(result->second);
  }
  return results;
}

Status Program::add_outputs() {
  for (const ValueInfo& output : proto_.graph.outputs) {
    const auto found = names_.find(output.name);
    if (found == names_.end()) return bad_file("'{}': output '{}' is not computed", file_->path(), output.name);
    if (sequences_.find(found->second))
      return bad_file("'{}': output '{}': got a sequence, wanted a tensor", file_->path(), output.name);
    if (caches_.keeps(output.name)) continue;
    if (caches_.are_bound() && output.name == "logits")
      RUNG_CHECK(caches_.give_logits(found->second));
    else
      model_.graph.set_output(output.name, found->second);
  }
  if (auto written = caches_.are_bound() ? caches_.write_states() : Status{}; !written)
    return fail_in(written.error(), "'{}'", file_->path());
  if (model_.graph.outputs().empty()) return bad_file("'{}': the graph has no output", file_->path());
  return {};
}

}  // namespace rung::onnx
