// Names constant expressions, and holds weak references to their final layouts.
// SPDX-License-Identifier: Apache-2.0
#include "plan/weight_store.hpp"

#include "base/hash.hpp"
#include "ir/text.hpp"

namespace rung {
namespace {

constexpr size_t kMaxName = 4096;  // characters

// Names a literal by its contents, because every graph has an object of its own for it.
std::optional<std::string> name_of_literal(const Weight& literal) {
  auto value = literal.load();
  if (!value) return std::nullopt;
  auto hash = [&](uint64_t seed) { return hex64(hash_bytes(value->data(), value->bytes(), seed)); };
  return fmt::format("{}#{}{}", literal.type(), hash(0), hash(1));
}

}  // namespace

std::optional<std::string> WeightStore::name_of(const Graph& graph, NodeId node) {
  if (graph.is_constant(node)) {
    const auto& weight = graph.weight(node);
    if (weight->immediate()) return std::nullopt;
    named_.emplace(weight.get(), weight);
    return fmt::format("{}", static_cast<const void*>(weight.get()));
  }
  if (graph[node].operands.empty()) return std::nullopt;
  std::string name = print_op(graph[node].op) + "(";
  for (NodeId operand : graph[node].operands) {
    bool literal = graph.is_constant(operand) && graph.weight(operand)->immediate();
    auto inner = literal ? name_of_literal(*graph.weight(operand)) : name_of(graph, operand);
    if (!inner || name.size() + inner->size() > kMaxName) return std::nullopt;
    name += *inner + ",";
  }
  return name + ")";
}

WeightStore::Data WeightStore::find(const std::string& key) const {
  auto it = held_.find(key);
  return it == held_.end() ? nullptr : it->second.lock();
}

}  // namespace rung
