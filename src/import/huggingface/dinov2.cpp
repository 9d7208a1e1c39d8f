// DINOv2: ViT's layers with a factor for each column of their parts, and positions that are resized to the image.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/position_resize.hpp"
#include "import/huggingface/vision_model.hpp"

namespace rung::huggingface {
namespace {

constexpr LayerNames kDinov2Layer{.attention = "attention.attention",
                                  .query = "query",
                                  .key = "key",
                                  .value = "value",
                                  .out = "attention.output.dense",
                                  .attention_norm = "norm1",
                                  .up = "mlp.fc1",
                                  .activation = "mlp.activation",
                                  .down = "mlp.fc2",
                                  .mlp_norm = "norm2"};

struct Dinov2Config {
  LayerConfig layer;
  ImageConfig trained;  // the size of image that the positions are for
  bool is_gated = false;
  DType dtype = DType::f32;
};

Result<Dinov2Config> read_dinov2_config(const Config& config) {
  ConfigFields fields(config);
  Dinov2Config c;
  c.layer = read_layer_config(fields, {.layers = 12, .width = 768, .heads = 12, .mlp = 1, .eps = 1e-6f}, "gelu");
  c.layer.qkv_bias = fields.flag("qkv_bias", true);
  c.layer.mlp = c.layer.width * fields.integer("mlp_ratio", {1, 64}, 4);
  c.is_gated = fields.flag("use_swiglu_ffn", false);
  // A gated MLP keeps two thirds of the width, in full eights.
  if (c.is_gated) c.layer.mlp = (c.layer.mlp * 2 / 3 + 7) / 8 * 8;
  c.trained = read_image_config(fields, 14);
  c.dtype = read_dtype(fields);
  if (c.trained.rows() != c.trained.columns())
    fields.mistake("image_size is {}x{}, wanted a square", c.trained.height, c.trained.width);
  RUNG_CHECK(check_image_config(fields, c.layer, c.trained));
  return c;
}

class Dinov2Writer {
 public:
  Dinov2Writer(ModelFrame& frame, const Dinov2Config& config)
      : frame_(frame), w_(frame.builder), c_(config), layer_(w_, c_.layer, kDinov2Layer) {}

  NodeId encode(NodeId pixels, const ImageConfig& image) {
    const Module m = frame_.encoder().child("embeddings");
    const int64_t width = c_.layer.width;
    NodeId x = embed_patches(w_, {m.child("patch_embeddings.projection"), image.patch, width}, pixels);
    x = with_class_token(w_, m.tensor("cls_token"), {1, 1, width}, x);
    const NodeId positions =
        w_.weight(m.tensor("position_embeddings"), {1, c_.trained.patches() + 1, width}, frame_.dtype());
    const Grid from{c_.trained.rows(), c_.trained.columns()}, to{image.rows(), image.columns()};
    x = w_.binary(BinaryKind::add, x, resize_positions(w_, positions, from, to), m.label);
    for (int64_t i = 0; i < c_.layer.layers; ++i)
      x = layer(frame_.encoder().child(fmt::format("encoder.layer.{}", i)), x);
    return w_.layer_norm(frame_.encoder().child("layernorm"), x, c_.layer.eps);
  }

  // The first token beside the mean of the others.
  NodeId summary(NodeId hidden) {
    return w_.op(Concat{.axis = 1}, {w_.token(hidden, 0, "classifier"), mean_of_tokens(w_, hidden, 1)}, "classifier");
  }

 private:
  NodeId layer(const Module& m, NodeId x) {
    const NodeId attended = layer_.attention(m, layer_.attention_norm(m, x), kNoNode);
    x = w_.binary(BinaryKind::add, scaled(m.child("layer_scale1"), attended), x, m.label);
    const NodeId h = layer_.mlp_norm(m, x);
    const NodeId y = c_.is_gated ? gated_mlp(m.child("mlp"), h) : layer_.mlp(m, h);
    return w_.binary(BinaryKind::add, scaled(m.child("layer_scale2"), y), x, m.label);
  }

  NodeId scaled(const Module& m, NodeId x) {
    return w_.binary(BinaryKind::mul, x, w_.weight(m.tensor("lambda1"), {c_.layer.width}, frame_.dtype()), m.label);
  }

  NodeId gated_mlp(const Module& m, NodeId x) {
    const int64_t size = c_.layer.mlp;
    const NodeId both = w_.linear(m.child("weights_in"), x, 2 * size);
    const NodeId gate = w_.op(Slice{.axis = 2, .begin = 0, .end = size}, {both}, m.label);
    const NodeId up = w_.op(Slice{.axis = 2, .begin = size, .end = 2 * size}, {both}, m.label);
    const NodeId h = w_.binary(BinaryKind::mul, w_.unary(UnaryKind::silu, gate, m.label), up, m.label);
    return w_.linear(m.child("weights_out"), h, c_.layer.width);
  }

  ModelFrame& frame_;
  ModuleBuilder& w_;
  const Dinov2Config& c_;
  TransformerLayer layer_;
};

// Returns the image asked for, else the one that the model's own processor makes, which may have another size than the
// one that the positions are for.
Result<ImageConfig> image_asked_for(const ConfigSource& source, const ImageConfig& trained) {
  RUNG_TRY(ImageConfig image, processed_image(source.directory, trained));
  const Shape shape = pixels_shape(source, image);
  const auto take = [&](int64_t asked, int64_t& size) {
    if (asked >= image.patch && asked <= kImageBounds.max) size = asked;
  };
  if (shape.rank() == 4) {
    take(shape[2], image.height);
    take(shape[3], image.width);
  }
  return image;
}

}  // namespace

Result<Model> import_dinov2(const ConfigSource& source, Classes classes) {
  RUNG_TRY(Dinov2Config config, read_dinov2_config(source.config));
  RUNG_TRY(ImageConfig image, image_asked_for(source, config.trained));
  RUNG_CHECK(check_patches(image));
  RUNG_CHECK(check_made("a table that resizes positions", config.trained.patches(), image.patches()));
  TensorNames names{.prefix = "dinov2",
                    .probe = "embeddings.patch_embeddings.projection.weight",
                    .probe_shape = image.kernel_shape(config.layer.width),
                    .layers = "encoder",
                    .heads = {"classifier."},
                    .ignored = {"embeddings.mask_token"}};
  RUNG_TRY(auto frame, ModelFrame::open(source, classes, std::move(names), config.dtype));
  RUNG_TRY(NodeId pixels, declare_pixels(*frame, source, image));
  Dinov2Writer writer(*frame, config);
  const NodeId hidden = writer.encode(pixels, image);
  if (frame->head() == Head::image) {
    frame->classify(Module::of("classifier"), writer.summary(hidden));
  } else {
    frame->output("last_hidden_state", hidden);
    frame->output("pooler_output", frame->builder.token(hidden, 0, "pooler"));
  }
  return frame->finish();
}

}  // namespace rung::huggingface
