// Turns GELU and SiLU written out in elementary functions into one op each.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/words.hpp"
#include "ir/match.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"
#include "reference/values.hpp"

namespace rung::passes {
namespace {

// Returns whether the value is the author's number as its type has it: 0.044715 is 0.0447 in bf16.
bool is_near(const Graph& graph, NodeId id, double wanted) {
  const auto value = uniform_value(graph, id);
  const double nearest = reference::round_to(graph.type(id).dtype, wanted);
  return value && std::abs(*value - nearest) <= 1e-6 * std::abs(nearest);
}

// x * sigmoid(x)  =>  silu(x)
bool recognise_silu(Graph& graph, NodeId id) {
  static const Pattern kSilu = binary(BinaryKind::mul, unary(UnaryKind::sigmoid, any("x")).one_use(), any("x"));
  auto m = match(graph, id, kSilu);
  if (!m) return false;
  replace(graph, id, Unary{UnaryKind::silu}, {(*m)["x"]});
  return true;
}

// Matches the factors around 1 + f(x): x, and 0.5 wherever the author put it.
std::optional<Match> match_half_x_times(const Graph& graph, NodeId id, const Pattern& inner) {
  const Pattern forms[] = {
      binary(BinaryKind::mul, binary(BinaryKind::mul, Pattern(inner), any("x")).one_use(), any("half")),
      binary(BinaryKind::mul, Pattern(inner), binary(BinaryKind::mul, any("x"), any("half")).one_use()),
      binary(BinaryKind::mul, Pattern(inner), binary(BinaryKind::mul, any("half"), any("x")).one_use()),
      binary(BinaryKind::mul, binary(BinaryKind::mul, Pattern(inner), any("half")).one_use(), any("x")),
  };
  for (const Pattern& form : forms) {
    auto m = match(graph, id, form);
    if (m && is_near(graph, (*m)["half"], 0.5) && graph.type((*m)["x"]) == graph.type(id)) return m;
  }
  return std::nullopt;
}

// 0.5 x (1 + erf(x / sqrt(2)))  =>  gelu(x)
bool recognise_gelu(Graph& graph, NodeId id) {
  static const Pattern kErf =
      unary(UnaryKind::erf, op<Binary>(any("x"), any("root")).one_use().named("scaled")).one_use();
  static const Pattern kInner = binary(BinaryKind::add, Pattern(kErf), any("one")).one_use();
  auto m = match_half_x_times(graph, id, kInner);
  if (!m || !is_near(graph, (*m)["one"], 1.0)) return false;
  BinaryKind kind = graph.as<Binary>((*m)["scaled"])->kind;
  bool divides = kind == BinaryKind::div && is_near(graph, (*m)["root"], std::sqrt(2.0));
  bool multiplies = kind == BinaryKind::mul && is_near(graph, (*m)["root"], std::sqrt(0.5));
  if (!divides && !multiplies) return false;
  replace(graph, id, Unary{UnaryKind::gelu}, {(*m)["x"]});
  return true;
}

// pow(x, 3), square(x) * x, x * x * x
std::vector<Pattern> cubes() {
  std::vector<Pattern> forms;
  forms.push_back(binary(BinaryKind::pow, any("x"), any("three")).one_use());
  forms.push_back(binary(BinaryKind::mul, unary(UnaryKind::square, any("x")).one_use(), any("x")).one_use());
  forms.push_back(binary(BinaryKind::mul, binary(BinaryKind::mul, any("x"), any("x")).one_use(), any("x")).one_use());
  return forms;
}

// 1 + tanh(root (x + coefficient x^3))
std::vector<Pattern> inner_of_gelu_tanh() {
  std::vector<Pattern> forms;
  for (Pattern& cube : cubes()) {
    Pattern scaled = binary(BinaryKind::mul, std::move(cube), any("coefficient")).one_use();
    Pattern sum = binary(BinaryKind::add, std::move(scaled), any("x")).one_use();
    Pattern tanh = unary(UnaryKind::tanh, binary(BinaryKind::mul, std::move(sum), any("root")).one_use()).one_use();
    forms.push_back(binary(BinaryKind::add, std::move(tanh), any("one")).one_use());
  }
  return forms;
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))  =>  gelu_tanh(x)
bool recognise_gelu_tanh(Graph& graph, NodeId id) {
  static const std::vector<Pattern> kInner = inner_of_gelu_tanh();
  std::optional<Match> m;
  for (size_t i = 0; i < kInner.size() && !m; ++i) m = match_half_x_times(graph, id, kInner[i]);
  if (!m || !is_near(graph, (*m)["one"], 1.0)) return false;
  if (m->has("three") && !is_near(graph, (*m)["three"], 3.0)) return false;
  if (!is_near(graph, (*m)["coefficient"], 0.044715) || !is_near(graph, (*m)["root"], std::sqrt(2.0 / M_PI)))
    return false;
  replace(graph, id, Unary{UnaryKind::gelu_tanh}, {(*m)["x"]});
  return true;
}

}  // namespace

Status recognise_activations(Graph& graph, PassContext& context) {
  size_t found = 0;
  for_each_node(graph, [&](NodeId id) {
    const auto* product = graph.as<Binary>(id);
    if (!product || product->kind != BinaryKind::mul) return;
    found += recognise_silu(graph, id) || recognise_gelu(graph, id) || recognise_gelu_tanh(graph, id);
  });
  if (found)
    context.notes.add("{}", words::counted(found, "activation became one op", "activations became one op each"));
  return {};
}

}  // namespace rung::passes
