// Turns RMSNorm, as its author writes it, into one op.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

Pattern variance() {
  Pattern mean = op<Reduce>(unary(UnaryKind::square, any("x")).one_use()).one_use().named("mean");
  return binary(BinaryKind::add, std::move(mean), any("eps")).one_use();
}
Pattern deviation() { return unary(UnaryKind::sqrt, variance()).one_use(); }
Pattern times(Pattern root) { return binary(BinaryKind::mul, std::move(root).one_use(), any("x")).one_use(); }

// x * rsqrt(v), x * reciprocal(sqrt(v)), x * (1 / sqrt(v)), x / sqrt(v)
std::vector<Pattern> normalised() {
  std::vector<Pattern> forms;
  forms.push_back(times(unary(UnaryKind::rsqrt, variance())));
  forms.push_back(times(unary(UnaryKind::reciprocal, deviation())));
  forms.push_back(times(binary(BinaryKind::div, any("one"), deviation())));
  forms.push_back(binary(BinaryKind::div, any("x"), deviation()).one_use());
  return forms;
}

std::vector<Pattern> scaled(bool narrowed) {
  std::vector<Pattern> forms;
  for (Pattern& form : normalised())
    forms.push_back(
        binary(BinaryKind::mul, narrowed ? op<Cast>(std::move(form)).one_use() : std::move(form), any("gain")));
  return forms;
}

struct Gain {
  NodeId weight;
  float offset;
};

// Returns the weight and offset of add(1, w) or w, seen through a widening cast.
Gain gain_of(const Graph& graph, NodeId gain) {
  static const Pattern kOffset = binary(BinaryKind::add, any("weight"), any("offset"));
  Gain found{gain, 0};
  if (auto m = match(graph, gain, kOffset)) {
    auto right = uniform_value(graph, (*m)["offset"]), left = uniform_value(graph, (*m)["weight"]);
    if (right)
      found = {(*m)["weight"], static_cast<float>(*right)};
    else if (left)
      found = {(*m)["offset"], static_cast<float>(*left)};
  }
  if (graph.as<Cast>(found.weight)) {
    NodeId narrow = graph[found.weight].operands[0];
    if (graph.type(found.weight).dtype == DType::f32 && is_float(graph.type(narrow).dtype)) found.weight = narrow;
  }
  return found;
}

// Finds the norm that ends in the product `id`. In models of 16 bits authors narrow the normalised values before the
// weight scales them; the op rounds once, after it.
std::optional<Match> norm_at(const Graph& graph, NodeId id) {
  static const std::vector<Pattern> kWide = scaled(false), kNarrowed = scaled(true);
  const auto* binary = graph.as<Binary>(id);
  if (!binary || binary->kind != BinaryKind::mul || !is_float(graph.type(id).dtype)) return std::nullopt;
  for (const Pattern& form : graph.type(id).dtype == DType::f32 ? kWide : kNarrowed)
    if (auto found = match(graph, id, form)) return found;
  return std::nullopt;
}

// [cast](x * rsqrt(mean(x^2) + eps) * (offset + w))  =>  rms_norm(x, w)
// cast(x * rsqrt(mean(x^2) + eps)) * (offset + w)    =>  rms_norm(x, w)
// The mean runs over the last axis, in f32; w is one value per column.
bool make_rms_norm(Graph& graph, PassContext& context, NodeId id) {
  auto m = norm_at(graph, id);
  if (!m) return false;
  NodeId x = (*m)["x"], mean = (*m)["mean"];
  const auto& reduce = *graph.as<Reduce>(mean);
  auto eps = uniform_value(graph, (*m)["eps"]);
  if (reduce.kind != ReduceKind::mean || !reduce.keep_dim ||
      axis_in(graph, x, reduce.axis) != graph.shape(x).rank() - 1)
    return false;
  if (m->has("one") && uniform_value(graph, (*m)["one"]) != 1.0) return false;
  if (!eps || graph.type(x).dtype != DType::f32 || graph.shape(id) != graph.shape(x)) return false;
  Gain gain = gain_of(graph, (*m)["gain"]);
  if (graph.type(gain.weight).elements() != graph.shape(x).back()) return false;
  if (graph.shape(gain.weight).rank() != 1) return false;

  NodeId source = x, result = id;  // casts on both sides fold into the op
  if (graph.as<Cast>(x) && is_float(graph.type(graph[x].operands[0]).dtype)) source = graph[x].operands[0];
  RmsNorm op{.eps = static_cast<float>(*eps), .weight_offset = gain.offset, .out = graph.type(id).dtype};
  if (op.out == DType::f32 && graph.single_use(id) && !graph[id].users.empty()) {
    const auto* cast = graph.as<Cast>(graph[id].users[0]);
    if (cast && is_float(cast->to)) result = graph[id].users[0], op.out = cast->to;
  }
  std::vector<NodeId> operands{source, gain.weight};
  if (!context.kernel_for(graph, op, operands)) return false;
  replace(graph, result, op, std::move(operands));
  return true;
}

}  // namespace

Status recognise_rms_norm(Graph& graph, PassContext& context) {
  size_t found = 0;
  for_each_node(graph, [&](NodeId id) { found += make_rms_norm(graph, context, id); });
  if (found)
    context.notes.add(
        "{}", words::counted(found, "RMS normalisation became one op", "RMS normalisations became one op each"));
  return {};
}

}  // namespace rung::passes
