// Running passes on graphs in text form, and comparing what graphs mean.
// SPDX-License-Identifier: Apache-2.0
#include "passes/support.hpp"

#include <cmath>
#include <map>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "ir/text.hpp"
#include "passes/rewrite.hpp"
#include "reference/evaluate.hpp"

namespace rung::test {
namespace {

// Floats near N(0, 1); indices and flags cycle through {0, 1}.
Tensor random_tensor(std::string_view name, const Type& type) {
  Tensor numbers({DType::f32, type.shape});
  uint64_t seed = hash_text(name);
  for (size_t i = 0; i < numbers.as<float>().size(); ++i)
    numbers.as<float>()[i] =
        is_float(type.dtype) ? random_normal(seed, i) : static_cast<float>(random_bits(seed, i) % 2);
  return convert(numbers, type.dtype);
}

std::string expression_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (const auto* input = graph.as<Input>(id)) return input->name;
  if (graph.is_constant(id)) {
    auto value = passes::uniform_value(graph, id);
    return value ? fmt::format("{}", *value) : graph.weight(id)->name();
  }
  std::string text = fmt::format("{}(", name_of(node.op));
  for (NodeId operand : node.operands) text += (text.back() == '(' ? "" : ", ") + expression_of(graph, operand);
  std::string fields = fields_to_string(node.op);
  if (!fields.empty()) text += (text.back() == '(' ? "" : ", ") + fields;
  return text + ")";
}

double relative_l2(const Tensor& got, const Tensor& wanted) {
  Tensor a = convert(got, DType::f32), b = convert(wanted, DType::f32);
  double error = 0, norm = 0;
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    double difference = a.as<float>()[i] - b.as<float>()[i];
    error += difference * difference;
    norm += static_cast<double>(b.as<float>()[i]) * b.as<float>()[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

}  // namespace

Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, [](const std::string& name, const Type& type) {
    return std::make_shared<Literal>(name, random_tensor(name, type));
  });
  if (!graph) ADD_FAILURE() << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

std::string expression(const Graph& graph) {
  std::string text;
  for (const Output& output : graph.outputs())
    text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", output.name, expression_of(graph, output.node));
  return text;
}

size_t count_ops(const Graph& graph, std::string_view op_name) {
  size_t count = 0;
  for (NodeId id : graph.order()) count += name_of(graph[id].op) == op_name;
  return count;
}

PassRun run_pass(PassFunction pass, Graph graph, const KernelQuery& has_kernel, const Precision& precision,
                 int64_t row_bytes) {
  PassOptions options{.rungs = {"test"}, .has_kernel = has_kernel, .precision = precision, .row_bytes = row_bytes};
  const Pass list[] = {{"pass", "test", "under test", pass}};
  auto report = run_passes(graph, options, list);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {std::move(graph), {}, {}};
  }
  PassReport::Row& row = report->rows[0];
  return {std::move(graph), std::move(row.notes), std::move(row.misses)};
}

void expect_rewrite(PassFunction pass, std::string_view before, std::string_view after) {
  Graph graph = graph_of(before);
  PassRun run = run_pass(pass, graph);
  EXPECT_EQ(expression(run.graph), after) << "from " << before;
  expect_same_values(graph, run.graph);
}

void expect_unchanged(PassFunction pass, std::string_view text) {
  Graph graph = graph_of(text);
  EXPECT_EQ(expression(run_pass(pass, graph).graph), expression(graph));
}

void expect_same_values(const Graph& before, const Graph& after, double tolerance) {
  std::map<std::string, Tensor, std::less<>> inputs;
  for (NodeId id : before.inputs()) {
    const std::string& name = before.as<Input>(id)->name;
    inputs[name] = random_tensor(name, before.type(id));
  }
  auto wanted = evaluate(before, inputs), got = evaluate(after, inputs);
  ASSERT_TRUE(wanted) << wanted.error().message;
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(wanted->size(), got->size());
  for (size_t i = 0; i < wanted->size(); ++i) {
    ASSERT_EQ((*wanted)[i].type(), (*got)[i].type());
    EXPECT_LE(relative_l2((*got)[i], (*wanted)[i]), tolerance) << "output " << i;
  }
}

std::vector<float> answers_of(const Graph& graph, const std::vector<NamedTensors>& runs) {
  const auto all = evaluate_sequence(graph, runs);
  EXPECT_TRUE(all) << all.error().message;
  std::vector<float> values;
  if (all)
    for (const SequenceRun& run : *all) {
      const auto y = run.outputs[0].as<float>();
      values.insert(values.end(), y.begin(), y.end());
    }
  return values;
}

void expect_equivalent(PassFunction pass, std::string_view text, double tolerance) {
  Graph graph = graph_of(text);
  PassRun run = run_pass(pass, graph);
  EXPECT_NE(expression(run.graph), expression(graph)) << "the pass changed nothing";
  expect_same_values(graph, run.graph, tolerance);
}

}  // namespace rung::test
