// Mixes the channels of a residual stream by a rotation, if products of 8 bits behind its RMS norms ask for it: then no
// channel is much larger than the others there. A norm without weights gives the same, rotated; so the weights of norms
// go into the products behind them, and all rotations into weights: nothing runs that did not before (QuaRot).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/asked_bits.hpp"
#include "passes/channel_constants.hpp"
#include "passes/channel_readers.hpp"
#include "passes/passes.hpp"
#include "passes/residual_stream.hpp"
#include "passes/rewrite.hpp"
#include "passes/rotations.hpp"

namespace rung::passes {
namespace {

class StreamRotator {
 public:
  StreamRotator(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), constant_(constant_nodes(graph)) {}

  void run() {
    for (ChannelReaders& all : channel_readers(graph_, [&](NodeId id) { return has_constant_weights(id); }))
      if (graph_.as<RmsNorm>(all.source)) readers_.emplace(all.source, std::move(all));
    std::set<NodeId> seen;
    for (const auto& [norm, all] : std::map(readers_)) {
      if (seen.contains(norm) || !asks(norm)) continue;
      const ResidualStream stream = residual_stream(graph_, constant_, graph_[norm].operands[0]);
      seen.insert(stream.norms.begin(), stream.norms.end());
      const Verdict done = rotate(stream);
      if (!done) context_.notes.misses.push_back({graph_[norm].label, done.reason});
      streams_ += done ? 1 : 0;
    }
    if (streams_)
      context_.notes.add("{} rotated", words::counted(streams_, "residual stream is", "residual streams are"));
  }

 private:
  bool has_constant_weights(NodeId id) const {
    const auto* op = graph_.as<Linear>(id);
    return op && constant_[graph_[id].operands[1]] && !op->has(LinearSlot::scale) && !op->has(LinearSlot::squares);
  }
  bool asks(NodeId norm) const {
    const auto found = readers_.find(norm);
    return found != readers_.end() && std::ranges::any_of(found->second.readers, [&](const auto& reader) {
             return asked_bits(graph_, constant_, context_.precision, reader.first).both &&
                    precision_at(context_.precision, graph_[reader.first].label).rotate;
           });
  }

  // x = sum of linear(a, w, b) and rows of t, linear(rms_norm(x, g), v)
  //   =>  x' = sum of linear(a, R w, R b) and rows of t R, linear(rms_norm(x', 1), v g R)
  // Only RMS norms read x, and only linears with constant weights read them.
  Verdict rotate(const ResidualStream& stream) {
    if (!stream.reason.empty()) return reject(stream.reason);
    for (const NodeId norm : stream.norms)
      if (const auto found = readers_.find(norm); found == readers_.end() || !found->second.alone)
        return reject(fmt::format("others than products read the norm '{}'", graph_[norm].label));
    const int64_t channels = graph_.shape(stream.norms.front()).back();
    const int64_t run = rotated_run(channels);
    if (run == 1) return reject(fmt::format("{} channels have no rotation of blocks", channels));
    for (const NodeId gather : stream.gathers) rotate_table(gather, run);
    for (const NodeId maker : stream.makers) rotate_rows(maker, run);
    for (const NodeId norm : stream.norms) move_weights(norm, run);
    return accept();
  }

  void rotate_table(NodeId gather, int64_t run) {
    Insertion here(graph_, gather);
    graph_.set_operand(gather, 0, with_rotated_columns(graph_, graph_[gather].operands[0], run));
  }
  void rotate_rows(NodeId linear, int64_t run) {
    Insertion here(graph_, linear);
    const auto& op = *graph_.as<Linear>(linear);
    const ChannelRows all{linear, 0, graph_.shape(linear).back()};
    std::vector<size_t> makes{1};
    if (op.has(LinearSlot::bias)) makes.push_back(op.slots.before(LinearSlot::bias));
    for (const size_t i : makes)
      graph_.set_operand(linear, i, with_rotated_rows(graph_, graph_[linear].operands[i], all, run));
  }
  // Leaves the norm weights of ones, and gives its own to the products, rotated.
  void move_weights(NodeId norm, int64_t run) {
    Insertion here(graph_, norm);
    RmsNorm op = *graph_.as<RmsNorm>(norm);
    const NodeId own = graph_[norm].operands[1];
    NodeId weights = cast_to(graph_, own, DType::f32);
    if (op.weight_offset != 0)
      weights = graph_.add(Binary{BinaryKind::add},
                           {weights, graph_.literal("offset", Tensor::of<float>({}, {op.weight_offset}))});
    const NodeId one =
        cast_to(graph_, graph_.literal("one", Tensor::of<float>({}, {1 - op.weight_offset})), graph_.type(own).dtype);
    graph_.set_operand(norm, 1, graph_.add(Broadcast{graph_.shape(own)}, {one}, graph_[own].label));
    for (const auto& [reader, value] : readers_.at(norm).readers) {
      Insertion before(graph_, reader);
      const NodeId w = graph_[reader].operands[1];
      const NodeId scaled = times_channels(graph_, cast_to(graph_, w, DType::f32), weights);
      const NodeId rotated = with_rotated_columns(graph_, scaled, run);
      graph_.set_operand(reader, 1, cast_to(graph_, rotated, graph_.type(w).dtype));
    }
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::map<NodeId, ChannelReaders> readers_;  // by norm
  size_t streams_ = 0;
};

}  // namespace

Status rotate_streams(Graph& graph, PassContext& context) {
  StreamRotator(graph, context).run();
  return {};
}

}  // namespace rung::passes
