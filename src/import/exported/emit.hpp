// The arithmetic of exported graphs on the IR, by the rules that PyTorch and ONNX share: what importers of both call.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "import/graph_builder.hpp"

namespace rung {
struct Window;
}

namespace rung::exported {

struct Resampling;
enum class Rounding : uint8_t { down, up, to_zero, nearest_even };

// The most elements of a table that is made at import: a range, a triangle, the places of elements.
inline constexpr int64_t kMostMade = int64_t{1} << 26;

// Adds nodes for one call of the file, under its label. Every function throws std::out_of_range where the call cannot
// be built, with what was got and what was wanted; the importer's loop adds the node's name.
class Emit {
 public:
  Emit(GraphBuilder& builder, std::string label) : builder_(builder), label_(std::move(label)) {}

  const Graph& graph() const { return builder_.graph; }
  const Type& type(NodeId x) const { return builder_.graph.type(x); }
  const Shape& shape(NodeId x) const { return builder_.graph.shape(x); }
  int rank(NodeId x) const { return shape(x).rank(); }
  DType dtype(NodeId x) const { return type(x).dtype; }
  // Returns a non-negative axis of x; `extra` axes may stand behind the last one.
  int axis(NodeId x, int64_t axis, int extra = 0) const;
  // Throws where there are more extents than a shape can have.
  static Dims dims(const std::vector<int64_t>& extents);
  // Returns the elements of an integer value that is known at import.
  std::vector<int64_t> integers(NodeId x, const std::string& what) const;
  std::optional<Tensor> value_of(NodeId x) const { return builder_.value_of(x); }
  std::optional<Tensor> computed_value(NodeId x) const { return builder_.computed_value(x); }

  NodeId add(Op op, std::vector<NodeId> operands) const;
  NodeId literal(const Tensor& value) const;
  NodeId constant(std::shared_ptr<const Weight> weight) const { return builder_.graph.constant(std::move(weight)); }
  NodeId scalar(double value, DType dtype) const { return builder_.scalar(value, dtype); }

  // ---- element-wise
  NodeId unary(UnaryKind kind, NodeId x) const { return add(Unary{kind}, {x}); }
  NodeId binary(BinaryKind kind, NodeId a, NodeId b) const { return add(Binary{kind}, {a, b}); }
  NodeId cast(NodeId x, DType to) const { return builder_.cast(x, to, label_); }
  // condition ? a : b, broadcast; both values have one type.
  NodeId select(NodeId condition, NodeId a, NodeId b) const { return add(Select{}, {condition, a, b}); }
  // Returns `x` times a number, rounded once.
  NodeId scale(NodeId x, double factor) const { return builder_.scale(x, factor, label_); }
  // x to a power that has an op of its own; none: pow() computes it.
  std::optional<NodeId> power(NodeId x, double exponent) const;
  NodeId clamp(NodeId x, std::optional<double> least, std::optional<double> most) const;
  NodeId sign(NodeId x) const;  // -1, 0 or 1; 0 for NaN
  NodeId rounded(NodeId x, Rounding way) const;
  // The nearest whole number of f32, ties to even; what is beyond 2^22 only stays beyond 2^21, on its side of 0.
  NodeId rounded_if_small(NodeId x) const;
  // a / b, rounded down or to zero: of floats in their type, of integers exactly.
  NodeId rounded_quotient(NodeId a, NodeId b, Rounding way) const;

  // ---- movement
  NodeId reshape(NodeId x, const Shape& to) const;
  // The same with one extent of -1, which the others settle.
  NodeId reshape(NodeId x, std::vector<int64_t> extents) const;
  NodeId transpose(NodeId x, const Dims& permutation) const;
  NodeId swap_axes(NodeId x, int64_t a, int64_t b) const;
  // Elements from `begin` up to `end`, counted from the end where negative, cut to the axis.
  NodeId slice(NodeId x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1) const;
  NodeId select_index(NodeId x, int64_t axis, int64_t index) const;
  NodeId concat(const std::vector<NodeId>& parts, int64_t axis) const;
  NodeId broadcast(NodeId x, const Shape& to) const;
  NodeId unsqueeze(NodeId x, int64_t axis) const;
  NodeId squeeze(NodeId x, std::vector<int64_t> axes) const;
  NodeId gather(NodeId x, NodeId indices, int64_t axis) const;
  // result[..., i, ...] = x[..., indices[..., i, ...], ...], at the axis alone.
  NodeId gather_elements(NodeId x, NodeId indices, int64_t axis) const;
  // The places of those elements in x as one axis, i64 of the indices' shape.
  NodeId element_places(NodeId x, NodeId indices, int64_t axis) const;
  // 0 to extent - 1, i64, along an axis of `rank` axes, of which the others have an extent of 1.
  NodeId counted(int64_t extent, int axis, int rank) const;
  // x with those rows of its first axis joined with the updates, one after another; indices: i64 of one axis.
  NodeId scatter(ScatterKind kind, NodeId x, NodeId indices, NodeId updates) const;
  // x[i, j, ...] with indices of some axes that stand together, which broadcast; other axes stay. Negative ones count
  // from the end.
  NodeId index(NodeId x, const std::vector<std::optional<NodeId>>& indices) const;
  // Zeros above the diagonal of the last two axes, or below it.
  NodeId triangle(NodeId x, bool lower, int64_t diagonal) const;
  // Indices of an axis of this extent, counted from the front.
  NodeId counted_from_front(NodeId indices, int64_t extent) const;
  NodeId repeat(NodeId x, int64_t axis, int64_t times) const;
  NodeId reversed(NodeId x, int64_t axis) const;
  // x moved towards the end of an axis, behind copies of a number, and cut to its extent.
  NodeId shifted(NodeId x, int64_t axis, int64_t places, double value) const;
  // x with `part` in place of its elements from `begin` on, along an axis.
  NodeId replaced(NodeId x, NodeId part, int64_t axis, int64_t begin) const;
  // Copies of a number at both ends of an axis; a negative count cuts elements off.
  NodeId padded(NodeId x, int64_t axis, int64_t before, int64_t after, double value) const;
  NodeId resampled(NodeId x, int64_t axis, const Resampling& how) const;
  // Parts of this size, of which the last may be shorter.
  std::vector<NodeId> split_evenly(NodeId x, int64_t axis, int64_t size) const;
  std::vector<NodeId> split(NodeId x, int64_t axis, const std::vector<int64_t>& sizes) const;

  // ---- contractions
  // numpy's matmul, vectors included.
  NodeId matmul(NodeId a, NodeId b) const;
  // x w' + bias, w of shape [N,K].
  NodeId linear(NodeId x, NodeId w, std::optional<NodeId> bias) const;
  // Sums of products by axes with names: "bij,bjk->bik". An ellipsis stands for axes without a name.
  NodeId einsum(const std::string& equation, const std::vector<NodeId>& operands) const;
  // Windows over one to three axes: lists have one number for all axes or one each.
  struct WindowCall {
    std::vector<int64_t> stride, dilation;  // none: 1
    std::vector<int64_t> before, after;     // elements around x that it does not have; none: 0
  };
  // A convolution as files say it: x [B,C,...], w [O,C/groups,...]; w is [C,O/groups,...] of a transposed one.
  struct ConvolutionCall {
    NodeId x, w;
    std::optional<NodeId> bias;
    WindowCall windows;
    int64_t groups = 1;
    bool transposed = false;
    std::vector<int64_t> extra;  // results of a transposed one behind the others; none: 0
  };
  NodeId convolution(const ConvolutionCall& call) const;
  // The largest, the sum or the mean of each window of x [B,C,...].
  struct PoolCall {
    NodeId x;
    ReduceKind kind;
    std::vector<int64_t> window;
    WindowCall windows;
    bool ceil = false;            // windows that begin inside of x may end anywhere
    bool counts_padding = false;  // a mean's elements around x are zeros, not absent
    bool places = false;          // of the largest, among the elements of a channel
  };
  struct Pooled {
    NodeId values = kNoNode, places = kNoNode;
  };
  Pooled pool(const PoolCall& call) const;
  struct AttentionCall {
    NodeId q, k, v;               // [B,H,S,D], [B,G,K,D], [B,G,K,D]; G divides H
    std::optional<NodeId> mask;   // broadcast to [B,H,S,K]: bool, true where a key is read, or added to the scores
    std::optional<double> scale;  // none: 1 / sqrt(D)
    bool causal = false;          // query i reads the keys up to i
    double softcap = 0;           // scores become softcap tanh(scores / softcap); 0: they stay
  };
  // Returns [B,H,S,D].
  NodeId attention(const AttentionCall& call) const;
  // x rotated by angles, of which cos and sin are broadcast to one half of x: halves of the last axis turn into each
  // other, or neighbours. Elements of x behind the angles stay.
  NodeId rotary(NodeId x, NodeId cos, NodeId sin, bool neighbours) const;

  // ---- reductions and normalisations
  NodeId reduce(ReduceKind kind, NodeId x, std::vector<int64_t> axes, bool keep) const;
  // The least element of floats or integers.
  NodeId least(NodeId x, const std::vector<int64_t>& axes, bool keep) const {
    return turned(reduce(ReduceKind::max, turned(x), axes, keep));
  }
  // x with its order turned: the largest becomes the least. Twice is x again.
  NodeId turned(NodeId x) const;
  NodeId product(NodeId x, const std::vector<int64_t>& axes, bool keep) const;
  // Each element times those before it.
  NodeId running_product(NodeId x, int64_t axis) const;
  // log(sum(exp(x))), of which the largest is taken out first where it is finite.
  NodeId log_sum_exp(NodeId x, const std::vector<int64_t>& axes, bool keep) const;
  // The k largest of rows along an axis, or the least, in that order, equal ones by ascending place.
  struct Top {
    NodeId values, places;
  };
  Top top(NodeId x, int64_t k, int64_t axis, bool least) const;
  // The place of the first of the largest. Integers are compared with the largest, as a float may not tell two apart.
  NodeId arg_max(NodeId x, int64_t axis, bool keep) const;
  NodeId softmax(NodeId x, int64_t axis) const { return add(Softmax{this->axis(x, axis)}, {x}); }
  NodeId log_softmax(NodeId x, int64_t axis) const;
  // Over the last axes, as many as `axes`; none for a weight of ones or a bias of zeros.
  NodeId layer_norm(NodeId x, int axes, std::optional<NodeId> weight, std::optional<NodeId> bias, double eps) const;
  NodeId rms_norm(NodeId x, std::optional<NodeId> weight, double eps) const;

 protected:
  GraphBuilder& builder() const { return builder_; }

 private:
  NodeId rounded_to_even(NodeId x) const;
  NodeId attention_mask(const AttentionCall& call) const;
  NodeId attention_as_written(const AttentionCall& call, std::optional<NodeId> mask) const;
  NodeId resampled_within(NodeId x, int at, const Resampling& how) const;
  NodeId resampled_by_product(NodeId x, int at, const Resampling& how) const;
  NodeId resampled_by_taps(NodeId x, int at, const Resampling& how) const;
  NodeId filled(const Shape& shape, double value, DType dtype) const;
  NodeId divided_by_counts(NodeId sums, const std::vector<Window>& windows) const;

  GraphBuilder& builder_;
  std::string label_;
};

// Throws what makes a call one that cannot be built.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw std::out_of_range(fmt::format(format, std::forward<Args>(args)...));
}

// Returns the type in which PyTorch computes with both: floats before integers before bool, the wider of two.
DType promoted(DType a, DType b);

// Returns the least number of a type: minus infinity of floats.
double least_of(DType type);

}  // namespace rung::exported
