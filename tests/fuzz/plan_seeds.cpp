// Builds the seeds once.
// SPDX-License-Identifier: Apache-2.0
#include "plan_seeds.hpp"

#include <cstdlib>
#include <cstring>
#include <regex>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "conformance/problems.hpp"
#include "import/model.hpp"
#include "ir/text.hpp"
#include "measure/cost.hpp"
#include "open/recipe.hpp"
#include "open/subject.hpp"
#include "plan/build.hpp"
#include "plan/check.hpp"
#include "plan/plan_json.hpp"
#include "seeds.hpp"
#include "tune/candidates.hpp"

namespace rung::fuzz {
namespace {

constexpr double kMostFlops = 2e6, kMostBytes = 4e5;  // of a seed: thousands of damaged ones are run

std::shared_ptr<const Weight> weight_of(const std::string& name, const Type& type) {
  Tensor values({DType::f32, type.shape});
  const uint64_t seed = hash_text(name);
  for (size_t i = 0; i < values.as<float>().size(); ++i) values.as<float>()[i] = 0.1f * random_normal(seed, i);
  return std::make_shared<Literal>(name, convert(values, type.dtype));
}

// Operands "w..." become constants, which kernels pack.
Result<Graph> graph_of(const std::string& problem) {
  static const std::regex weight(R"(\b(w[a-z]*): ?([a-z0-9]+\[[0-9,]*\]))");
  std::string constants, text = std::regex_replace(problem, weight, "$1");
  for (auto it = std::sregex_iterator(problem.begin(), problem.end(), weight); it != std::sregex_iterator(); ++it)
    constants += (*it)[1].str() + ": " + (*it)[2].str() + " = constant(name=\"" + (*it)[1].str() + "\")\n";
  return parse_graph(constants + text, weight_of);
}

Seed seed_of(const Plan& plan) {
  Seed seed{plan_to_json(plan), plan.weights, {}, {}};
  for (PlanWeight& weight : seed.weights) {
    auto exact = exact_bytes(weight.bytes);
    std::memcpy(exact.get(), weight.data.get(), weight.bytes);
    weight.data = std::move(exact);
  }
  for (const PlanInput& input : plan.inputs)
    if (input.value) seed.defaults[input.name] = *input.value;
  for (const FrozenInput& frozen : plan.frozen) seed.frozen[frozen.name] = frozen.value;
  return seed;
}

void add(std::vector<Seed>& all, const Plan& plan) {
  auto status = check_plan(plan);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  require(status.has_value(), "a plan that was built passes the checker");
  all.push_back(seed_of(plan));
}

bool is_small(const Plan& plan) {
  double flops = 0, bytes = 0;
  for (const Step& step : plan.steps) flops += step.flops, bytes += step.bytes;
  return flops <= kMostFlops && bytes <= kMostBytes;
}

// One plan for each row that takes the problem.
void add_problem(std::vector<Seed>& all, const std::string& problem, int threads) {
  auto graph = graph_of(problem);
  require(graph.has_value(), "a problem's graph parses");
  for (NodeId id : graph->order())
    if (graph->type(id).elements() == 0) return;  // plans have no empty values
  Recipe recipe{.tuned_kernels = true, .threads = threads};
  auto built = build_plan(*graph, recipe);
  require(built.has_value(), "a problem's plan is built");
  if (!is_small(built->plan) || built->plan.steps.empty()) return;
  add(all, built->plan);
  const Step last = built->plan.steps.back();
  const Problem wanted = problem_of(last, threads);
  for (const Kernel* row : cpu_target().kernels_for(op_family(last.op))) {
    if (row->name == last.choice.kernel || !cpu_target().supports(*row, wanted)) continue;
    recipe.choices[last.problem] = {std::string(row->name), {}};
    if (built = build_plan(*graph, recipe); built) add(all, built->plan);
  }
}

void add_model(std::vector<Seed>& all, const char* config, const Recipe& recipe) {
  Subject subject;
  auto model = import_config_text(config, {.random_seed = 1});
  require(model.has_value(), "a model is imported");
  subject.model = std::move(*model);
  auto built = build_plan(subject.model.graph, recipe);
  require(built.has_value(), "a model's plan is built");
  attach_model(built->plan, subject);
  add(all, built->plan);
}

constexpr const char* kModels[] = {
    R"({"model_type":"bert","architectures":["BertModel"],"vocab_size":30,"hidden_size":16,"num_hidden_layers":1,)"
    R"("num_attention_heads":2,"intermediate_size":24,"max_position_embeddings":8,"type_vocab_size":2,)"
    R"("hidden_act":"gelu","layer_norm_eps":1e-12})",
    R"({"type":"pi0","views":2,"prompt":6,"horizon":5,"action_dim":4,"steps":1,"image":28,"patch":14,)"
    R"("vision":[1,8,8,2],"prefix":[1,8,8,2,1,4],"expert":[1,8,8,2,1,4],"vocab":12})"};

std::vector<Seed> make_seeds() {
  std::vector<Seed> all;
  for (int threads : {1, 2})
    for (const std::string& problem : test::problems()) add_problem(all, problem, threads);
  for (const char* model : kModels)
    for (DType precision : {DType::f32, DType::bf16}) {
      add_model(all, model, default_recipe(2, precision));
      add_model(all, model, Recipe{});
    }
  return all;
}

}  // namespace

const std::vector<Seed>& seeds() {
  static const std::vector<Seed> all = make_seeds();
  return all;
}

std::shared_ptr<std::byte> exact_bytes(size_t bytes) {
  void* data = nullptr;
  if (posix_memalign(&data, 64, bytes) != 0) std::abort();
  std::memset(data, 0, bytes);
  return {static_cast<std::byte*>(data), [](std::byte* p) { std::free(p); }};
}

}  // namespace rung::fuzz
