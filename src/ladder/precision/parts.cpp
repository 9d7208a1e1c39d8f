// Finds parts: labels that launches join, of all layers.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "ir/scope.hpp"
#include "passes/origins.hpp"

namespace rung {
namespace {

bool is_layer_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_weight_of(const OperandUse& use, bool is_constant) {
  return use.role == OperandRole::weights || (use.is_product() && is_constant);
}

// Returns what kind of product an op is; none: it is no product.
std::optional<ProductKind> product_kind(const Op& op, const Semantics& semantics,
                                        const std::function<bool(size_t)>& is_constant) {
  if (narrowing_of(op) != Narrowing::products) return std::nullopt;
  for (size_t i = 0; i < semantics.operands.size(); ++i) {
    const OperandUse& use = semantics.operands[i];
    if (is_weight_of(use, is_constant(i))) return ProductKind::weights;
  }
  return ProductKind::attention;
}

using Labels = std::set<std::string, std::less<>>;

// Products with weights, by the weights that they multiply: those are there whatever passes make of the products, while
// a product that two passes rewrote may be found in its reader.
class ProductsOfWeights {
 public:
  explicit ProductsOfWeights(const Graph& model) {
    const auto constant = constant_nodes(model);
    for (NodeId id : model.order())
      if (narrowing_of(model[id].op) == Narrowing::products)
        for (const std::string& weight : weights_of(model, constant, id)) labels_[weight].insert(model[id].label);
  }
  // Returns the labels of the model's products whose weights a product multiplies.
  Labels labels_of(const Graph& passed, const std::vector<bool>& constant, NodeId product) const {
    Labels all;
    for (const std::string& weight : weights_of(passed, constant, product))
      if (const auto found = labels_.find(weight); found != labels_.end())
        all.insert(found->second.begin(), found->second.end());
    return all;
  }

 private:
  static Labels weights_of(const Graph& graph, const std::vector<bool>& constant, NodeId product) {
    const Semantics semantics = semantics_of(graph, product);
    std::vector<NodeId> pending;
    for (size_t i = 0; i < semantics.operands.size(); ++i) {
      const NodeId operand = graph[product].operands[i];
      if (is_weight_of(semantics.operands[i], constant[operand]) && constant[operand]) pending.push_back(operand);
    }
    Labels names;
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (const auto* weight = graph.as<Constant>(id)) names.insert(weight->name);
      pending.insert(pending.end(), graph[id].operands.begin(), graph[id].operands.end());
    }
    return names;
  }
  std::map<std::string, Labels, std::less<>> labels_;
};

// Scopes of which some are known to have one precision.
class Joined {
 public:
  void join(const std::set<std::string, std::less<>>& scopes) {
    for (const std::string& scope : scopes) group_of_.try_emplace(scope, scope);
    for (const std::string& scope : scopes) group_of_[first_of(scope)] = first_of(*scopes.begin());
  }
  std::vector<std::vector<std::string>> groups() {
    std::map<std::string, std::vector<std::string>> by_first;
    for (const auto& entry : group_of_) by_first[first_of(entry.first)].push_back(entry.first);
    std::vector<std::vector<std::string>> all;
    for (auto& [first, scopes] : by_first) all.push_back(std::move(scopes));
    std::ranges::sort(all);
    return all;
  }

 private:
  std::string first_of(std::string scope) const {
    while (group_of_.at(scope) != scope) scope = group_of_.at(scope);
    return scope;
  }
  std::map<std::string, std::string> group_of_;  // a scope of the same group, nearer to its first; the first: itself
};

// The words of a label, and the same with numbers alike.
struct SplitLabel {
  std::vector<std::string> words;
  std::string scope;
  explicit SplitLabel(std::string_view label) : scope(scope_of_layers(label)) {
    while (!label.empty()) words.emplace_back(take_word(label));
  }
};

// Returns the place of the last word in which labels of one scope differ; none: they are one label.
std::optional<size_t> layer_word(const std::vector<SplitLabel>& labels) {
  for (size_t at = labels[0].words.size(); at-- > 0;)
    for (const SplitLabel& label : labels)
      if (label.words[at] != labels[0].words[at]) return at;
  return std::nullopt;
}

int64_t layer_number(const std::string& word) {
  int64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

// Returns the scope with the label's own number in place of the layer's "*".
std::string scope_at(const SplitLabel& label, size_t layer) {
  std::string scope;
  std::string_view rest = label.scope;
  for (size_t at = 0; at < label.words.size(); ++at) {
    const std::string_view word = take_word(rest);
    scope += fmt::format("{}{}", at == 0 ? "" : ".", at == layer ? std::string_view(label.words[at]) : word);
  }
  return scope;
}

// Labels of one scope that differ in their layer.
struct Layers {
  std::vector<SplitLabel> labels;
  size_t word = 0;
  int64_t layer_of(const SplitLabel& label) const { return layer_number(label.words[word]); }
};

// Returns the layers of each scope of a part; empty: one of them has a single label.
std::vector<Layers> layers_of(const PrecisionPart& part, const std::vector<ProductLaunch>& products) {
  std::map<std::string, std::vector<SplitLabel>> by_scope;
  for (const ProductLaunch& launch : products) {
    if (!part.covers(launch)) continue;
    for (const std::string& label : launch.labels) {
      SplitLabel words(label);
      by_scope[words.scope].push_back(std::move(words));
    }
  }
  std::vector<Layers> all;
  for (auto& [scope, labels] : by_scope) {
    const std::optional<size_t> word = layer_word(labels);
    if (!word) return {};
    all.push_back({std::move(labels), *word});
  }
  return all;
}

}  // namespace

std::string scope_of_layers(std::string_view label) {
  std::string scope;
  bool has_name = false;
  for (std::string_view rest = label; !rest.empty();) {
    const std::string_view word = take_word(rest);
    has_name |= !is_layer_number(word);
    scope += fmt::format("{}{}", scope.empty() ? "" : ".", is_layer_number(word) ? "*" : word);
  }
  return has_name ? scope : std::string(label);
}

std::vector<ProductLaunch> product_launches(const Plan& plan, const std::vector<double>& us) {
  std::vector<ProductLaunch> launches;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const Semantics semantics = semantics_of(step.op, operand_types(step), type_of(step.output));
    const auto is_constant = [&](size_t operand) { return step.inputs[operand].storage == Storage::weight; };
    const auto kind = product_kind(step.op, semantics, is_constant);
    if (!kind) continue;
    ProductLaunch& launch = launches.emplace_back(ProductLaunch{.kind = *kind, .labels = {}, .us = us[i]});
    if (!step.label.empty()) launch.labels.insert(step.label);
  }
  return launches;
}

std::vector<ProductLaunch> product_groups(const Graph& model, const Graph& passed) {
  const ProductsOfWeights products(model);
  const auto took = origins(model, passed);
  const auto of_model = constant_nodes(model), of_passed = constant_nodes(passed);
  const auto kind_of = [](const Graph& graph, const std::vector<bool>& constant, NodeId id) {
    const auto is_constant = [&](size_t operand) { return constant[graph[id].operands[operand]]; };
    return product_kind(graph[id].op, semantics_of(graph, id), is_constant);
  };
  std::vector<ProductLaunch> groups;
  for (NodeId by : passed.order()) {
    ProductLaunch group{.kind = ProductKind::weights, .labels = {}, .us = 0};
    if (kind_of(passed, of_passed, by) == ProductKind::weights) {
      group.labels = products.labels_of(passed, of_passed, by);
    } else {
      group.kind = ProductKind::attention;
      for (NodeId id : took[by])
        if (kind_of(model, of_model, id) == ProductKind::attention) group.labels.insert(model[id].label);
    }
    if (group.labels.empty()) continue;
    group.labels.insert(passed[by].label);
    group.labels.erase("");
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string PrecisionPart::name() const {
  constexpr size_t kMostNamed = 4;
  const auto shown = scopes.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, scopes.size()));
  const std::string all = fmt::format("{}", fmt::join(scopes.begin(), shown, ", "));
  return scopes.size() > kMostNamed ? fmt::format("{} and {} more", all, scopes.size() - kMostNamed) : all;
}

// A launch's labels are all of one part or of one half of it, but the scope of one half may begin a label of another
// part: whole labels are compared.
bool PrecisionPart::covers(const ProductLaunch& launch) const {
  if (launch.kind != kind) return false;
  return std::ranges::any_of(launch.labels, [&](const std::string& label) {
    return std::ranges::any_of(scopes, [&](const std::string& scope) {
      return std::ranges::count(scope, '.') == std::ranges::count(label, '.') && rung::covers(scope, label);
    });
  });
}

std::vector<PrecisionPart> parts_of(const std::vector<ProductLaunch>& products) {
  std::map<ProductKind, Joined> joined;
  for (const ProductLaunch& product : products) {
    std::set<std::string, std::less<>> scopes;
    for (const std::string& label : product.labels) scopes.insert(scope_of_layers(label));
    if (!scopes.empty()) joined[product.kind].join(scopes);
  }
  std::vector<PrecisionPart> parts;
  for (auto& [kind, groups] : joined)
    for (auto& scopes : groups.groups()) parts.push_back({kind, std::move(scopes)});
  return parts;
}

std::vector<PrecisionPart> halves_of(const PrecisionPart& part, const std::vector<ProductLaunch>& products) {
  const std::vector<Layers> scopes = layers_of(part, products);
  if (scopes.empty()) return {};
  std::set<int64_t> layers;
  for (const Layers& scope : scopes)
    for (const SplitLabel& label : scope.labels) layers.insert(scope.layer_of(label));
  const int64_t middle = *std::next(layers.begin(), static_cast<std::ptrdiff_t>(layers.size() / 2));
  std::set<std::string> earlier, later;
  for (const Layers& scope : scopes)
    for (const SplitLabel& label : scope.labels)
      (scope.layer_of(label) < middle ? earlier : later).insert(scope_at(label, scope.word));
  return {{part.kind, {earlier.begin(), earlier.end()}}, {part.kind, {later.begin(), later.end()}}};
}

}  // namespace rung
