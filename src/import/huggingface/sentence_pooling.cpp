// Builds pooling modes, each as its library computes it.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/sentence_pooling.hpp"

namespace rung::huggingface {
namespace {

const std::string kLabel = "pooling";

class Pooling {
 public:
  Pooling(ModuleBuilder& writer, const Tokens& tokens)
      : w_(writer),
        tokens_(tokens),
        shape_(w_.graph.shape(tokens.hidden)),
        dtype_(w_.graph.type(tokens.hidden).dtype) {}

  NodeId run(PoolingMode mode) {
    if (mode == PoolingMode::cls) return first_token();
    expand_mask();
    return mode == PoolingMode::max ? maximum() : mean(mode);
  }

 private:
  NodeId first_token() {
    NodeId first = w_.op(Slice{.axis = 1, .begin = 0, .end = 1}, {tokens_.hidden}, kLabel);
    return w_.reshape(first, {shape_[0], shape_[2]}, kLabel);
  }

  void expand_mask() {
    if (mask_ != kNoNode) return;
    NodeId column = w_.reshape(tokens_.mask, {shape_[0], shape_[1], 1}, kLabel);
    mask_ = w_.cast(w_.op(Broadcast{shape_}, {column}, kLabel), dtype_, kLabel);
  }

  NodeId maximum() {
    NodeId padding = w_.binary(BinaryKind::eq, mask_, w_.scalar(0.0, dtype_), kLabel);
    NodeId kept = w_.op(Select{}, {padding, w_.scalar(-1e9, dtype_), tokens_.hidden}, kLabel);
    return w_.op(Reduce{.kind = ReduceKind::max, .axis = 1}, {kept}, kLabel);
  }

  NodeId mean(PoolingMode mode) {
    NodeId kept = w_.binary(BinaryKind::mul, tokens_.hidden, mask_, kLabel);
    NodeId sum = w_.op(Reduce{.kind = ReduceKind::sum, .axis = 1}, {kept}, kLabel);
    NodeId count = w_.op(Reduce{.kind = ReduceKind::sum, .axis = 1}, {mask_}, kLabel);
    count = w_.binary(BinaryKind::max, count, w_.scalar(1e-9, dtype_), kLabel);
    if (mode == PoolingMode::mean_sqrt_length) count = w_.unary(UnaryKind::sqrt, count, kLabel);
    return w_.binary(BinaryKind::div, sum, count, kLabel);
  }

  ModuleBuilder& w_;
  const Tokens& tokens_;
  Shape shape_;
  DType dtype_;
  NodeId mask_ = kNoNode;
};

}  // namespace

NodeId pool_sentence(ModuleBuilder& writer, const SentenceConfig& config, const Tokens& tokens) {
  Pooling pooling(writer, tokens);
  std::vector<NodeId> parts;
  for (PoolingMode mode : config.modes) parts.push_back(pooling.run(mode));
  NodeId pooled = parts.size() == 1 ? parts[0] : writer.op(Concat{.axis = 1}, parts, kLabel);
  return config.normalize ? writer.op(L2Normalize{}, {pooled}, "normalize") : pooled;
}

}  // namespace rung::huggingface
