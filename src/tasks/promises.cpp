// Compares the names of a model's parts with the launches that they became.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/promises.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ir/scope.hpp"
#include "passes/origins.hpp"

namespace rung::tasks {
namespace {

constexpr std::array<std::array<std::string_view, 3>, 8> kProjections{{{"q_proj", "k_proj", "v_proj"},
                                                                       {"query", "key", "value"},
                                                                       {"q_lin", "k_lin", "v_lin"},
                                                                       {"q", "k", "v"},
                                                                       {"to_q", "to_k", "to_v"},
                                                                       {"gate_proj", "up_proj", ""},
                                                                       {"wi_0", "wi_1", ""},
                                                                       {"w1", "w3", ""}}};

bool names_attention(std::string_view word) {
  return word.find("attn") != std::string_view::npos || word.find("attention") != std::string_view::npos;
}

bool names_norm(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool of_batch = lower.find("batch") != std::string::npos;  // a scale and a shift in inference
  return (lower.find("norm") != std::string::npos && !of_batch) || lower == "ln" || lower.starts_with("ln_");
}

// Returns the label up to and with its first word that `names` accepts; empty: it has none.
std::string_view scope_named(std::string_view label, bool (*names)(std::string_view)) {
  std::string_view rest = label;
  while (!rest.empty())
    if (names(take_word(rest))) return label.substr(0, label.size() - rest.size() - (rest.empty() ? 0 : 1));
  return {};
}

bool is_norm(const Op& op) {
  const auto* linear = as<Linear>(op);
  return as<RmsNorm>(op) || as<LayerNorm>(op) || as<GroupNorm>(op) || as<L2Normalize>(op) || as<CacheHeads>(op) ||
         as<CachedAttention>(op) || (linear && linear->prologue.eps != 0);
}

// Ops that do the work of a norm beside their own: where one has all of it, no launch is the norm's alone.
bool takes_norms_in(const Op& op) { return as<Region>(op) || as<Conv>(op) || as<Attention>(op); }

class Comparison {
 public:
  Comparison(const Graph& model, const Built& built) : model_(model), built_(built), step_of_(model.capacity()) {
    std::vector<const Step*> by_node(built.graph.capacity());
    for (const Step& step : built.plan.steps)
      if (step.node != kNoNode) by_node[step.node] = &step;
    const auto took = origins(model, built.graph);
    for (NodeId node = 0; node < took.size(); ++node)
      for (NodeId origin : took[node]) step_of_[origin] = by_node[node];
  }

  std::vector<Promise> all() {
    for (NodeId id : model_.order()) {
      if (!step_of_[id]) continue;
      const std::string& label = model_[id].label;
      if (const auto scope = scope_named(label, names_attention); !scope.empty())
        attentions_[place(scope)].push_back(id);
      if (const auto scope = scope_named(label, names_norm); !scope.empty()) norms_[place(scope)].push_back(id);
      if (model_.as<MatMul>(id) || model_.as<Linear>(id)) add_projection(id);
    }
    for (const auto& [scope, ids] : attentions_)
      if (std::ranges::any_of(ids, [&](NodeId id) { return model_.as<Softmax>(id) || model_.as<Attention>(id); }))
        tell(scope, "attention", ids, [](const Op& op) { return as<Attention>(op) || as<CachedAttention>(op); });
    for (const auto& [scope, ids] : norms_) {
      const bool in_one = steps_of(ids).size() == 1;
      tell(scope, "norm", ids, [=](const Op& op) { return is_norm(op) || (in_one && takes_norms_in(op)); });
    }
    for (const auto& [group, ids] : projections_)
      for (const auto& [rows, products] : by_rows(ids))
        if (products.size() > 1) tell_projections(group.scope, products);
    std::ranges::stable_sort(promises_, {},
                             [&](const Promise& p) { return order_.at(p.scope.substr(0, p.scope.find(".{"))); });
    return std::move(promises_);
  }

 private:
  // Projections of one scope that models name together and that read one value.
  struct Group {
    std::string scope;
    size_t names = 0;  // in kProjections
    NodeId read = kNoNode;
    auto operator<=>(const Group&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 on any <=>
  };

  std::string place(std::string_view scope) {
    order_.try_emplace(std::string(scope), order_.size());
    return std::string(scope);
  }

  void add_projection(NodeId id) {
    const std::string_view label = model_[id].label;
    const size_t dot = label.rfind('.');
    if (dot == std::string_view::npos) return;
    const std::string_view word = label.substr(dot + 1);
    for (size_t names = 0; names < kProjections.size(); ++names)
      if (std::ranges::find(kProjections[names], word) != kProjections[names].end())
        projections_[{place(label.substr(0, dot)), names, read_by(id)}].push_back(id);
  }

  // Returns the value that a product reads, before views of it.
  NodeId read_by(NodeId product) const {
    NodeId x = model_[product].operands[0];
    while (is_view(model_[x].op)) x = model_[x].operands[0];
    return x;
  }

  std::set<const Step*> steps_of(const std::vector<NodeId>& ids) const {
    std::set<const Step*> steps;
    for (NodeId id : ids) steps.insert(step_of_[id]);
    return steps;
  }

  // One product has as many rows for each of its parts: where only some queries are read, those of keys stand apart.
  std::map<int64_t, std::vector<NodeId>> by_rows(const std::vector<NodeId>& products) const {
    std::map<int64_t, std::vector<NodeId>> groups;
    for (NodeId id : products) {
      Shape rows = built_.graph.shape(step_of_[id]->node);
      rows[rows.rank() - 1] = 1;
      groups[rows.product()].push_back(id);
    }
    return groups;
  }

  template <class Is>
  void tell(const std::string& scope, std::string what, const std::vector<NodeId>& ids, Is is) {
    Promise promise{.scope = scope, .what = std::move(what), .found = false, .by = {}};
    const auto steps = steps_of(ids);
    const auto it = std::ranges::find_if(steps, [&](const Step* step) { return is(step->op); });
    const bool is_spread =
        std::ranges::any_of(steps, [](const Step* step) { return as<Softmax>(step->op) != nullptr; });
    promise.found = it != steps.end() && !is_spread;
    promise.by = promise.found ? (*it)->choice.kernel : stays(scope, steps);
    promises_.push_back(std::move(promise));
  }

  void tell_projections(const std::string& scope, const std::vector<NodeId>& ids) {
    std::vector<std::string_view> words;
    for (NodeId id : ids) words.push_back(std::string_view(model_[id].label).substr(scope.size() + 1));
    const auto steps = steps_of(ids);
    promises_.push_back({.scope = fmt::format("{}.{{{}}}", scope, fmt::join(words, ",")),
                         .what = "one product",
                         .found = steps.size() == 1,
                         .by = steps.size() == 1 ? (*steps.begin())->choice.kernel : stays(scope, steps)});
  }

  // Returns "stays 2 x matmul_blocked, softmax_avx512", with the reason that a pass gave for a label of the scope.
  std::string stays(const std::string& scope, const std::set<const Step*>& steps) const {
    std::map<std::string, int> kernels;
    for (const Step* step : steps) ++kernels[step->choice.kernel];
    std::vector<std::string> words;
    for (const auto& [kernel, count] : kernels)
      words.push_back(count == 1 ? kernel : fmt::format("{} x {}", count, kernel));
    return fmt::format("stays {}{}", fmt::join(words, ", "), reason_for(scope));
  }

  std::string reason_for(const std::string& scope) const {
    for (const auto& row : built_.passes.rows)
      for (const Miss& miss : row.misses)
        if (covers(scope, miss.label)) return ": " + miss.reason;
    return {};
  }

  const Graph& model_;
  const Built& built_;
  std::vector<const Step*> step_of_;  // by node of the model; null: nothing does its work at run time
  std::map<std::string, size_t> order_;
  std::map<std::string, std::vector<NodeId>> attentions_, norms_;
  std::map<Group, std::vector<NodeId>> projections_;
  std::vector<Promise> promises_;
};

}  // namespace

std::vector<Promise> promises_of(const Graph& model, const Built& built) { return Comparison(model, built).all(); }

nlohmann::json to_json(const std::vector<Promise>& promises) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Promise& promise : promises)
    rows.push_back({{"scope", promise.scope}, {"what", promise.what}, {"found", promise.found}, {"by", promise.by}});
  return rows;
}

}  // namespace rung::tasks
