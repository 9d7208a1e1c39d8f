// Mixes the channels of each head of values by a rotation before products of 8 bits read them: a channel that is much
// larger than the others of its head becomes a little of all of them. Rotations of values pass through an attention,
// so both ends are folded into weights, and nothing runs that did not before.
// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"
#include "passes/asked_bits.hpp"
#include "passes/channel_readers.hpp"
#include "passes/passes.hpp"
#include "passes/rotations.hpp"

namespace rung::passes {
namespace {

class HeadRotator {
 public:
  HeadRotator(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  void run() {
    for (const ChannelReaders& all : channel_readers(graph_, [&](NodeId id) { return is_asked(id); })) {
      if (!graph_.as<Attention>(all.source)) continue;
      const Verdict done = rotate(all);
      if (done)
        products_ += all.readers.size();
      else
        context_.notes.misses.push_back({graph_[all.readers.begin()->first].label, done.reason});
    }
    if (products_) context_.notes.add("{} rotated heads", words::counted(products_, "product reads", "products read"));
  }

 private:
  bool is_asked(NodeId id) const {
    return asked_bits(graph_, constant_, context_.precision, id).both &&
           precision_at(context_.precision, graph_[id].label).rotate;
  }

  // linear(attention(q, k, linear(x, v, b)), w)  =>  linear(attention(q, k, linear(x, R v, R b)), w R')
  // R has blocks for runs of each head's columns, as long as a power of two divides them.
  Verdict rotate(const ChannelReaders& all) {
    constant_ = constant_nodes(graph_);
    const auto rows = value_rows(graph_, constant_, all.source);
    if (!rows || !all.alone) return reject("others read the attention or its values, too, or they are no product's");
    const int64_t run = rotated_run(graph_.shape(all.source).back());
    if (run == 1) return reject("heads of an odd number of columns have no rotation of blocks");
    Insertion here(graph_, rows->linear);
    const auto& op = *graph_.as<Linear>(rows->linear);
    std::vector<size_t> makes{1};
    if (op.has(LinearSlot::bias)) makes.push_back(op.slots.before(LinearSlot::bias));
    for (const size_t i : makes)
      graph_.set_operand(rows->linear, i, with_rotated_rows(graph_, graph_[rows->linear].operands[i], *rows, run));
    for (const auto& [reader, value] : all.readers) {
      Insertion before(graph_, reader);
      graph_.set_operand(reader, 1, with_rotated_columns(graph_, graph_[reader].operands[1], run));
    }
    return accept();
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  size_t products_ = 0;
};

}  // namespace

Status rotate_heads(Graph& graph, PassContext& context) {
  HeadRotator(graph, context).run();
  return {};
}

}  // namespace rung::passes
