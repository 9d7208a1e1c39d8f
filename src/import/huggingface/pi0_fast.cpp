// Pi0-FAST policies: Pi0's prefix, whose cameras and prompt see each other, and tokens of actions that its language
// model writes behind it, one after another.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "import/huggingface/architecture.hpp"
#include "import/huggingface/input_rules.hpp"
#include "import/huggingface/limits.hpp"
#include "import/huggingface/pi0_prefix.hpp"
#include "import/zeros.hpp"

namespace rung::huggingface {
namespace {

constexpr int64_t kBegin = 2;  // PaliGemma's token that begins a text, which ends the prompt
constexpr const char* kValid = "prefix_valid";

std::string cache_name(const char* kind, size_t layer) { return fmt::format("{}.{}", kind, layer); }

class Pi0FastWriter {
 public:
  // `config`: with a prompt that ends with the token that begins the actions.
  Pi0FastWriter(Model& model, ModuleBuilder& writer, const Pi0Config& config, const Pi0Tensors& tensors,
                const ImportOptions& options)
      : model_(model),
        w_(writer),
        c_(config),
        t_(tensors),
        cache_(options.cache),
        prefix_(writer, config, tensors, options.dtype) {}

  // Writes the prefix, and keeps its keys and values for the runs of tokens behind it.
  void keep_prefix(const Pi0PrefixInputs& in) {
    const Before before = read_prefix(in);
    keep(kValid, before.valid);
    for (size_t i = 0; i < before.layers.size(); ++i) {
      keep(cache_name("prefix_keys", i), apart(before.layers[i].k));
      keep(cache_name("prefix_values", i), apart(before.layers[i].v));
    }
    model_.graph.set_output("prefix_tokens", length_of(before.valid));
    write_states();
  }

  // Writes tokens i64[1,S] behind a prefix that stands in the same run, or, with a cache, one that was kept.
  void decode(const Pi0PrefixInputs* in, const Shape& tokens) {
    chunk_ = tokens[1];
    const NodeId ids = add_token_input(model_, "decoder_input_ids", tokens, c_.vocabulary);
    if (!in) {
      count_ = add_count_input(model_, "count", chunk_);
      position_ = declare("position", {DType::i64, {1}}, true);
      next_.back().node = w_.binary(BinaryKind::add, position_, count_, "position");
    }
    const Before before = in ? read_prefix(*in) : recall_prefix();
    GemmaPass pass = pass_behind(before.valid);
    NodeId x = w_.cast(prefix_.embed_prompt(ids), prefix_.dtype(), "language_model");
    for (size_t i = 0; i < before.layers.size(); ++i) {
      if (!in) pass.remember = [this, i](const KeyValue& own) { return remembered(i, own); };
      const Module m{fmt::format("{}.layers.{}", t_.language, i), fmt::format("language_model.layers.{}", i)};
      x = GemmaLayer(w_, c_.prefix, m).write(x, pass, before.layers[i], nullptr);
    }
    write_logits(asked(write_rms_norm(w_, {t_.language + ".norm", "language_model.norm"}, x).x));
    write_states();
  }

 private:
  // The prefix without the token that begins the actions, which is the first of the tokens behind it.
  struct Before {
    NodeId valid;  // bool[1,L]
    std::vector<KeyValue> layers;
  };
  int64_t before_tokens() const { return c_.prefix_tokens() - 1; }
  // The places of tokens that a run reads behind the prefix.
  int64_t slots() const { return cache_.length > 0 ? cache_.length : chunk_; }

  Before read_prefix(Pi0PrefixInputs in) {
    in.tokens =
        w_.op(Concat{.axis = 0}, {in.tokens, w_.graph.literal("begin", Tensor::of<int64_t>({1}, {kBegin}))}, "prefix");
    Tensor seen({DType::boolean, {1}});
    seen.as<bool>()[0] = true;
    in.token_mask =
        w_.op(Concat{.axis = 0}, {in.token_mask, w_.graph.literal("begin.valid", std::move(seen))}, "prefix.valid");
    const NodeId valid = prefix_.valid(in);
    const auto without_last = [&](NodeId x, int axis) {
      return w_.op(Slice{.axis = axis, .begin = 0, .end = before_tokens()}, {x}, "prefix");
    };
    Before before{without_last(valid, 1), prefix_.write(prefix_.embedded(in), valid)};
    for (KeyValue& layer : before.layers) layer = {without_last(layer.k, 2), without_last(layer.v, 2)};
    return before;
  }

  Before recall_prefix() {
    const Type heads{prefix_.dtype(), {before_tokens(), c_.prefix.kv_heads, c_.prefix.head_dim}};
    Before before{declare(kValid, {DType::boolean, {1, before_tokens()}}, false), {}};
    const auto read = [&](const char* kind, size_t layer) {
      return together(declare(cache_name(kind, layer), heads, false));
    };
    for (size_t i = 0; i < static_cast<size_t>(c_.prefix.layers); ++i)
      before.layers.push_back({read("prefix_keys", i), read("prefix_values", i)});
    return before;
  }

  // Token i stands behind the prefix's valid ones, and sees them and the tokens up to itself.
  GemmaPass pass_behind(NodeId valid) {
    const std::string label = "actions.mask", positions = "actions.positions";
    Tensor behind({DType::i64, {1, chunk_, slots()}}), offsets({DType::i64, {1, chunk_}});
    for (int64_t i = 0; i < chunk_; ++i) {
      offsets.as<int64_t>()[static_cast<size_t>(i)] = i;
      for (int64_t j = 0; j < slots(); ++j) behind.as<int64_t>()[static_cast<size_t>(i * slots() + j)] = j - i;
    }
    const NodeId place = position_ != kNoNode ? position_ : w_.scalar(0, DType::i64);
    const NodeId own = w_.binary(BinaryKind::le, w_.graph.literal("actions.behind", std::move(behind)), place, label);
    const NodeId prefix =
        w_.op(Broadcast{{1, chunk_, before_tokens()}}, {w_.reshape(valid, {1, 1, before_tokens()}, label)}, label);
    GemmaPass pass;
    pass.mask = prefix_.additive_mask(w_.op(Concat{.axis = 2}, {prefix, own}, label), label);
    const NodeId first = w_.binary(BinaryKind::add, w_.reshape(length_of(valid), {1, 1}, positions), place, positions);
    const NodeId offset = w_.graph.literal("actions.offsets", std::move(offsets));
    pass.rotary = prefix_.rotary(w_.binary(BinaryKind::add, first, offset, positions), positions);
    return pass;
  }

  // i64[1]
  NodeId length_of(NodeId valid) { return w_.op(Reduce{.kind = ReduceKind::sum, .axis = 1}, {valid}, "prefix.length"); }

  // Writes the chunk's keys and values T[1,G,S,D] among those of the tokens before it, and returns all, T[1,G,slots,D].
  KeyValue remembered(size_t layer, const KeyValue& own) {
    const auto write = [&](const char* kind, NodeId chunk) {
      const std::string name = cache_name(kind, layer);
      const NodeId rows = apart(chunk);
      Shape all = w_.graph.shape(rows);
      all[0] = slots();
      const NodeId before = declare(name, {prefix_.dtype(), all}, true);
      return together(next_.back().node = w_.op(Scatter{}, {before, places(), rows}, name));
    };
    const NodeId keys = write("keys", own.k);
    return {keys, write("values", own.v)};
  }

  // Returns where the chunk's tokens stand, i64[S].
  NodeId places() {
    if (places_ != kNoNode) return places_;
    Tensor counted({DType::i64, {chunk_}});
    const auto values = counted.as<int64_t>();
    std::iota(values.begin(), values.end(), int64_t{0});
    return places_ =
               w_.binary(BinaryKind::add, position_, w_.graph.literal("positions", std::move(counted)), "positions");
  }

  // T[1,G,S,D] -> T[S,G,D], the layout of states, and back.
  NodeId apart(NodeId heads) {
    const Shape s = w_.graph.shape(heads);
    return w_.reshape(w_.swap_axes(heads, 1, 2, "cache"), {s[2], s[1], s[3]}, "cache");
  }
  NodeId together(NodeId rows) {
    const Shape s = w_.graph.shape(rows);
    return w_.swap_axes(w_.reshape(rows, {1, s[0], s[1], s[2]}, "cache"), 1, 2, "cache");
  }

  // T[1,S,width] -> those whose scores are asked for
  NodeId asked(NodeId hidden) {
    if (position_ == kNoNode) return hidden;
    const NodeId rows = w_.reshape(hidden, {chunk_, c_.prefix.width}, "last_token");
    if (chunk_ == 1 || chunk_ <= cache_.scored_chunk) return rows;
    const NodeId last = w_.binary(BinaryKind::sub, count_, w_.scalar(1, DType::i64), "last_token");
    return w_.op(Gather{.axis = 0}, {rows, last}, "last_token");
  }

  void write_logits(NodeId hidden) {
    const NodeId head = w_.weight(t_.embedding, {c_.vocabulary, c_.prefix.width}, prefix_.dtype());
    model_.graph.set_output("logits", w_.op(Linear{.out = DType::f32}, {hidden, head}, "lm_head"));
  }

  // Without a first value a state must be written before it is read. A state that nobody writes becomes itself.
  NodeId declare(const std::string& name, const Type& type, bool has_first) {
    const std::string next = name + ".next";
    std::shared_ptr<const Weight> first;
    if (has_first) first = std::make_shared<Zeros>(name, type);
    model_.graph.add_state({name, next, std::move(first)});
    const NodeId state = model_.graph.input(name, type);
    next_.push_back({next, state});
    return state;
  }
  void keep(const std::string& name, NodeId value) {
    declare(name, w_.graph.type(value), false);
    next_.back().node = value;
  }
  void write_states() {
    for (const Output& state : next_) model_.graph.set_output(state.name, state.node);
  }

  Model& model_;
  ModuleBuilder& w_;
  const Pi0Config& c_;
  const Pi0Tensors& t_;
  const DecoderCache& cache_;
  Pi0Prefix prefix_;
  int64_t chunk_ = 0;
  NodeId count_ = kNoNode, position_ = kNoNode, places_ = kNoNode;
  std::vector<Output> next_;  // what the states become
};

Result<Shape> chunk_shape(const ImportOptions& options) {
  const DecoderCache& cache = options.cache;
  const bool remembers = cache.length != 0;
  if (remembers && (cache.length < 1 || cache.length > kTokenBounds.max))
    return wrong_usage("a cache of {} tokens: wanted 1 to {}", cache.length, kTokenBounds.max);
  if (remembers && (cache.largest_chunk < 1 || cache.largest_chunk > cache.length))
    return wrong_usage("chunks of up to {} tokens: wanted 1 to {}, which the cache holds", cache.largest_chunk,
                       cache.length);
  const int64_t most = remembers ? cache.largest_chunk : kTokenBounds.max;
  const Shape shape = requested_shape(options, "decoder_input_ids", {1, remembers ? cache.largest_chunk : 1});
  if (shape.rank() == 2 && shape[0] == 1 && shape[1] >= 1 && shape[1] <= most) return shape;
  return mismatch("shape {} for decoder_input_ids: wanted [1,S] with S from 1 to {}", shape, most);
}

}  // namespace

bool is_pi0_fast(const Config& config) { return config.get_text("type").value_or("") == "pi0_fast"; }

Result<Model> import_pi0_fast(const ConfigSource& source, Classes) {
  RUNG_TRY(const Pi0Config config, read_pi0_config(source.config, source.options));
  const DecoderCache& cache = source.options.cache;
  RUNG_TRY(const Shape tokens, chunk_shape(source.options));
  if (config.vocabulary <= kBegin)
    return fail("config.json: a vocabulary of {} tokens, wanted more than {}, which begins the actions",
                config.vocabulary, kBegin);
  const int64_t keys = config.prefix_tokens() + (cache.length > 0 ? cache.length : tokens[1]);
  RUNG_CHECK(check_made("a mask of tokens", tokens[1], keys));
  RUNG_TRY(const auto checkpoint, open_weights(source, config.dtype));
  Model model{.directory = source.directory};
  model.stages = {{"SigLIP", {"camera", "image_embeddings"}}, {"language model", {"prefix", "language_model"}}};
  ModuleBuilder writer(model.graph, *checkpoint);
  const Pi0Tensors tensors = find_pi0_tensors(*checkpoint);
  Pi0Config with_begin = config;
  ++with_begin.prompt;
  Pi0FastWriter fast(model, writer, with_begin, tensors, source.options);
  std::optional<Pi0PrefixInputs> prefix;
  if (cache.length == 0 || cache.encodes) prefix = declare_prefix_inputs(model, config);
  if (cache.length > 0 && cache.encodes)
    fast.keep_prefix(*prefix);
  else
    fast.decode(prefix ? &*prefix : nullptr, tokens);
  const bool is_part = cache.length > 0;
  const auto may_ignore = [&](const std::string& name) {
    const auto is_of = [&](const std::string& module) { return name.starts_with(module + "."); };
    const bool is_of_other_part =
        is_part && (is_of(tensors.vision) || is_of(tensors.projector) || is_of(tensors.language));
    return is_of_other_part || name == tensors.embedding || pi0_may_ignore(tensors, name);
  };
  RUNG_TRY(model.notes, writer.finish(may_ignore));
  if (is_part) model.notes.clear();
  return model;
}

}  // namespace rung::huggingface
