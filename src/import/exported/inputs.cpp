// Finds what an input of an exported graph may hold.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/inputs.hpp"

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"

namespace rung::exported {
namespace {

// Ops that pass an index on as it is.
bool passes_on(const Graph& graph, NodeId id) { return is_view(graph[id].op) || graph.as<Cast>(id); }

// The rows of the smallest table that the value is an index of; 0: of none.
int64_t rows_indexed(const Graph& graph, NodeId value) {
  int64_t rows = 0;
  for (NodeId user : graph[value].users) {
    int64_t found = 0;
    if (const auto* gather = graph.as<Gather>(user); gather && graph[user].operands[1] == value)
      found = graph.shape(graph[user].operands[0])[static_cast<int>(gather->axis)];
    else if (passes_on(graph, user))
      found = rows_indexed(graph, user);
    if (found > 0) rows = rows == 0 ? found : std::min(rows, found);
  }
  return rows;
}

Tensor random_integers(const Type& type, uint64_t seed, int64_t below) {
  Tensor values({DType::i64, type.shape});
  for (size_t i = 0; i < values.as<int64_t>().size(); ++i)
    values.as<int64_t>()[i] = static_cast<int64_t>(random_bits(seed, i) % static_cast<uint64_t>(below));
  return convert(values, type.dtype);
}

Tensor ones(const Type& type) {
  Tensor values({DType::i64, type.shape});
  std::ranges::fill(values.as<int64_t>(), 1);
  return convert(values, type.dtype);
}

Tensor random_floats(const Type& type, uint64_t seed) {
  Tensor values({DType::f32, type.shape});
  for (size_t i = 0; i < values.as<float>().size(); ++i) values.as<float>()[i] = random_normal(seed, i);
  return convert(values, type.dtype);
}

}  // namespace

NodeId add_input(Model& model, const std::string& name, const Type& type) {
  model.defaults[name].type = type;
  return model.graph.input(name, type);
}

void settle_inputs(Model& model) {
  for (auto& [name, rule] : model.defaults) {
    const Type type = rule.type;
    const auto seeded = [name = name](uint64_t seed) { return hash_text(name, seed); };
    if (is_float(type.dtype)) {
      rule.meaning = "numbers";
      rule.sample = [=](uint64_t seed) { return random_floats(type, seeded(seed)); };
    } else if (const int64_t rows = rows_indexed(model.graph, model.graph.input_named(name)); rows > 0) {
      rule.meaning = "indices";
      rule.range = IntegerRange{0, rows - 1};
      rule.sample = [=](uint64_t seed) { return random_integers(type, seeded(seed), rows); };
    } else {
      rule.meaning = type.dtype == DType::boolean ? "truth values" : "integers";
      rule.sample = [=](uint64_t) { return ones(type); };
    }
  }
}

}  // namespace rung::exported
