// Keeps the keys and values of attentions in 8 bits between runs, where the precision asks for it: what a run adds to
// a cache is rounded as it is stored, and attention widens what it reads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "base/words.hpp"
#include "passes/narrowed_state.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

// next = scatter(state, places, rows), which only products of attentions read.
struct KeptCache {
  NodeId state, next;
  DType to;                          // the type that its readers ask for
  std::vector<NodeId> attentions;    // that read it, or a view of it, as keys or values
  std::vector<NodeId> wide_readers;  // its other direct readers, which lead to products of an unfused attention
};

class CacheNarrower {
 public:
  CacheNarrower(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  void run() {
    for (const State& state : graph_.states())
      if (const auto cache = cache_of(state)) caches_.emplace(cache->next, *cache);
    while (std::erase_if(caches_, [&](const auto& entry) { return !is_read_narrow(entry.second); })) {
    }
    for (const auto& [next, cache] : caches_) narrow(cache);
    if (const size_t count = caches_.size())
      context_.notes.add("{} kept in 8 bits", words::counted(count, "cache is", "caches are"));
  }

 private:
  bool is_view(NodeId id) const { return graph_.as<Reshape>(id) || graph_.as<Transpose>(id) || graph_.as<Slice>(id); }

  // Returns the value of which this is a view.
  NodeId viewed(NodeId id) const {
    while (is_view(id)) id = graph_[id].operands[0];
    return id;
  }

  // Takes a type for which a reader asks; false: it asks for none of 8 bits, or for another one than the others.
  bool asks(NodeId reader, std::optional<DType>& to) const {
    const DType asked = precision_at(context_.precision, graph_[reader].label).cache;
    if (!is_f8(asked) || (to && *to != asked)) return false;
    to = asked;
    return true;
  }

  // Returns whether all that reads `id`, or a view of it, are attentions whose keys or values it is; appends them.
  bool leads_to_attention(NodeId id, NodeId value, std::optional<DType>& to, std::vector<NodeId>& attentions) const {
    if (is_view(id) && !graph_.is_output(id))
      return std::ranges::all_of(graph_[id].users,
                                 [&](NodeId user) { return leads_to_attention(user, id, to, attentions); });
    const auto* op = graph_.as<Attention>(id);
    if (!op || op->segments != 1 || !asks(id, to)) return false;
    const auto& operands = graph_[id].operands;
    attentions.push_back(id);
    return std::find(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(op->first_key()), value) ==
           operands.begin() + static_cast<std::ptrdiff_t>(op->first_key());
  }

  // Returns whether all that reads `id`, views of it, or multiples of these, are products of an attention in several
  // ops.
  bool leads_to_products(NodeId id, std::optional<DType>& to) const {
    if (graph_.as<MatMul>(id)) return asks(id, to);
    const auto* binary = graph_.as<Binary>(id);
    const bool is_multiple = binary && (binary->kind == BinaryKind::mul || binary->kind == BinaryKind::div);
    if (!is_view(id) && !is_multiple && !graph_.as<Broadcast>(id) && !graph_.as<Cast>(id)) return false;
    return !graph_.is_output(id) && !graph_[id].users.empty() &&
           std::ranges::all_of(graph_[id].users, [&](NodeId user) { return leads_to_products(user, to); });
  }

  std::optional<KeptCache> cache_of(const State& state) const {
    const auto written = written_rows(graph_, state);
    if (!written || !is_float(graph_.type(written->next).dtype) || graph_[written->next].users.empty())
      return std::nullopt;
    KeptCache cache{
        .state = written->state, .next = written->next, .to = DType::f32, .attentions = {}, .wide_readers = {}};
    std::optional<DType> to;
    for (const NodeId user : graph_[written->next].users) {
      std::vector<NodeId> attentions;
      if (leads_to_attention(user, written->next, to, attentions))
        cache.attentions.insert(cache.attentions.end(), attentions.begin(), attentions.end());
      else if (leads_to_products(user, to))
        cache.wide_readers.push_back(user);
      else
        return std::nullopt;
    }
    cache.to = *to;
    return cache;
  }

  // Returns whether each attention has both its keys and its values in such caches, of one type, and a kernel that
  // reads them.
  bool is_read_narrow(const KeptCache& cache) const {
    return std::ranges::all_of(cache.attentions, [&](NodeId id) {
      const Attention& op = *graph_.as<Attention>(id);
      std::vector<Type> types = graph_.operand_types(id);
      for (const size_t i : {op.first_key(), op.first_key() + 1}) {
        const auto found = caches_.find(viewed(graph_[id].operands[i]));
        if (found == caches_.end() || found->second.to != cache.to || !reads(found->second, id)) return false;
        types[i].dtype = cache.to;
      }
      return runs(op, types);
    });
  }
  static bool reads(const KeptCache& cache, NodeId attention) {
    return std::ranges::find(cache.attentions, attention) != cache.attentions.end();
  }
  bool runs(const Op& op, const std::vector<Type>& types) const {
    if (!context_.has_kernel) return true;
    const Verdict verdict = context_.has_kernel(op, types);
    std::string line = fmt::format("a cache is not kept in 8 bits: {}", verdict.reason);
    if (!verdict && std::ranges::find(context_.notes.lines, line) == context_.notes.lines.end())
      context_.notes.lines.push_back(std::move(line));
    return verdict.yes;
  }

  // next = scatter(state, places, rows)  =>  next = scatter(state of 8 bits, places, cast(rows))
  //   attention(q, views of next)  =>  attention(q, the same views of 8 bits); other readers read cast(next)
  void narrow(const KeptCache& cache) {
    const DType wide = graph_.type(cache.next).dtype;
    Insertion here(graph_, cache.next);
    const NodeId narrowed = narrow_rows(graph_, cache.next, cache.to);
    if (!cache.wide_readers.empty()) {
      const NodeId widened = graph_.add(Cast{wide}, {narrowed}, graph_[cache.next].label);
      for (const NodeId reader : cache.wide_readers) read_instead(reader, cache.next, widened);
    }
    for (const NodeId reader : std::vector<NodeId>(graph_[cache.next].users)) read_views(reader, cache.next, narrowed);
    erase_unused(graph_, cache.next);
  }

  void read_instead(NodeId reader, NodeId old, NodeId by) {
    for (size_t i = 0; i < graph_[reader].operands.size(); ++i)
      if (graph_[reader].operands[i] == old) graph_.set_operand(reader, i, by);
  }
  // Makes attentions behind `reader` read `narrowed`, or the same views of it, in place of `old`.
  void read_views(NodeId reader, NodeId old, NodeId narrowed) {
    if (!graph_[reader].alive) return;  // it read the value twice
    if (!is_view(reader)) return read_instead(reader, old, narrowed);
    Insertion here(graph_, reader);
    const NodeId view = graph_.add(graph_[reader].op, {narrowed}, graph_[reader].label);
    for (const NodeId user : std::vector<NodeId>(graph_[reader].users)) read_views(user, reader, view);
    graph_.erase(reader);
  }

  Graph& graph_;
  PassContext& context_;
  std::map<NodeId, KeptCache> caches_;  // by the next value
};

}  // namespace

Status narrow_caches(Graph& graph, PassContext& context) {
  const bool is_asked = std::ranges::any_of(context.precision,
                                            [](const PartPrecision& part) { return part.cache && is_f8(*part.cache); });
  if (is_asked) CacheNarrower(graph, context).run();
  return {};
}

}  // namespace rung::passes
