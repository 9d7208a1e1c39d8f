// Loads weights on demand, and builds the modules that every architecture has.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/module_builder.hpp"

#include <algorithm>

#include "base/words.hpp"

namespace rung::huggingface {
namespace {

// A checkpoint's tensor, converted when it is loaded.
class ConvertedWeight : public Weight {
 public:
  ConvertedWeight(std::shared_ptr<const Weight> stored, DType to)
      : Weight(stored->name(), {to, stored->type().shape}), stored_(std::move(stored)) {}
  Result<Tensor> load() const override {
    RUNG_TRY(Tensor value, stored_->load());
    return convert(value, type().dtype);
  }

 private:
  std::shared_ptr<const Weight> stored_;
};

// A weight in place of a missing tensor, so that all missing tensors can be reported at once.
class MissingWeight : public Weight {
 public:
  using Weight::Weight;
  Result<Tensor> load() const override { return fail("'{}' is not in the checkpoint", name()); }
};

bool is_usable_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

std::string first_few(const std::vector<std::string>& items, std::string_view separator, size_t most) {
  size_t shown = std::min(items.size(), most);
  std::string text =
      fmt::format("{}", fmt::join(items.begin(), items.begin() + static_cast<ptrdiff_t>(shown), separator));
  if (shown < items.size()) text += fmt::format("{}and {} more", separator, items.size() - shown);
  return text;
}

}  // namespace

Module Module::child(std::string_view name) const {
  auto join = [&](const std::string& parent) {
    return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
  };
  return {join(tensors), join(label)};
}

std::shared_ptr<const Weight> ModuleBuilder::fetch(const std::string& name, const Shape& shape) {
  auto found = checkpoint_.get(name, shape);
  if (!found) {
    mistakes_.push_back(found.error().message);
    return std::make_shared<MissingWeight>(name, Type{DType::f32, shape});
  }
  used_.insert(name);
  if (is_usable_float((*found)->type().dtype)) return *found;
  mistakes_.push_back(fmt::format("'{}' is {}, wanted f32, f16 or bf16", name, (*found)->type()));
  return std::make_shared<MissingWeight>(name, Type{DType::f32, shape});
}

NodeId ModuleBuilder::weight(const std::string& name, const Shape& shape, DType as) {
  if (auto it = weights_.find(name); it != weights_.end()) return it->second;
  auto stored = fetch(name, shape);
  NodeId id = stored->type().dtype == as ? graph.constant(stored)
                                         : graph.constant(std::make_shared<ConvertedWeight>(stored, as));
  weights_.emplace(name, id);
  return id;
}

DType ModuleBuilder::stored_dtype(const std::string& name, const Shape& shape) {
  auto found = checkpoint_.get(name, shape);
  return found && is_usable_float((*found)->type().dtype) ? (*found)->type().dtype : DType::f32;
}

NodeId ModuleBuilder::linear(const Module& module, NodeId x, int64_t out_features, bool bias) {
  return linear({module.tensor("weight"), bias ? module.tensor("bias") : "", module.label}, x, out_features);
}

NodeId ModuleBuilder::linear(const LinearTensors& tensors, NodeId x, int64_t out_features) {
  DType dtype = graph.type(x).dtype;
  std::vector<NodeId> operands{x, weight(tensors.weight, {out_features, graph.shape(x).back()}, dtype)};
  Linear linear{.out = dtype};
  if (!tensors.bias.empty()) linear.slots.put(operands, LinearSlot::bias, weight(tensors.bias, {out_features}, dtype));
  return op(linear, std::move(operands), tensors.label);
}

NodeId ModuleBuilder::layer_norm(const Module& module, NodeId x, float eps, bool has_bias) {
  DType dtype = graph.type(x).dtype;
  Shape width{graph.shape(x).back()};
  // Checkpoints converted from TensorFlow use the names gamma and beta.
  bool old_names = !checkpoint_.contains(module.tensor("weight")) && checkpoint_.contains(module.tensor("gamma"));
  NodeId gain = weight(module.tensor(old_names ? "gamma" : "weight"), width, dtype);
  NodeId bias = has_bias ? weight(module.tensor(old_names ? "beta" : "bias"), width, dtype) : zeros(width, dtype);
  return op(LayerNorm{.eps = eps, .out = dtype}, {x, gain, bias}, module.label);
}

NodeId ModuleBuilder::split_heads(NodeId x, int64_t heads, const std::string& label) {
  const Shape shape = graph.shape(x);
  return swap_axes(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}, label), 1, 2, label);
}

NodeId ModuleBuilder::merge_heads(NodeId x, const std::string& label) {
  const Shape shape = graph.shape(x);
  return reshape(swap_axes(x, 1, 2, label), {shape[0], shape[2], shape[1] * shape[3]}, label);
}

NodeId ModuleBuilder::token(NodeId x, int64_t at, const std::string& label) {
  const Shape shape = graph.shape(x);
  return reshape(op(Slice{.axis = 1, .begin = at, .end = at + 1}, {x}, label), {shape[0], shape[2]}, label);
}

Result<std::vector<std::string>> ModuleBuilder::finish(
    const std::function<bool(const std::string& name)>& may_ignore) const {
  std::vector<std::string> ignored, unexpected;
  for (const auto& name : unused(checkpoint_, used_)) (may_ignore(name) ? ignored : unexpected).push_back(name);
  if (!mistakes_.empty())
    return fail("{} wrong: {}", words::counted(mistakes_.size(), "tensor is", "tensors are"),
                first_few(mistakes_, "; ", 3));
  if (!unexpected.empty())
    return fail("{} to this architecture: {}",
                words::counted(unexpected.size(), "tensor of the checkpoint does not belong",
                               "tensors of the checkpoint do not belong"),
                first_few(unexpected, ", ", 5));
  std::vector<std::string> notes;
  if (!ignored.empty())
    notes.push_back(
        fmt::format("{} not read: {}",
                    words::counted(ignored.size(), "tensor of the checkpoint is", "tensors of the checkpoint are"),
                    first_few(ignored, ", ", 5)));
  return notes;
}

}  // namespace rung::huggingface
