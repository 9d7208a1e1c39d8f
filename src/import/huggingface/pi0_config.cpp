// Reads Pi0's config.json dialects.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/pi0_config.hpp"

#include <nlohmann/json.hpp>

#include "import/huggingface/architecture.hpp"
#include "import/huggingface/limits.hpp"
#include "import/huggingface/vision_model.hpp"

namespace rung::huggingface {
namespace {

constexpr IntRange kViewBounds{1, 64};
constexpr IntRange kHorizonBounds{1, 4096};
constexpr IntRange kStepBounds{1, 1000};
constexpr IntRange kActionBounds{1, 4096};
constexpr int64_t kMostPrefixTokens = 1 << 16;
constexpr int64_t kMostUnrolledLayers = 4096;
constexpr int64_t kMostTimeTable = 1 << 24;  // elements of the time embeddings of all steps

struct Variant {
  const char* name;
  GemmaConfig config;
};
constexpr Variant kVariants[] = {
    {"gemma_300m", {.width = 1024, .mlp = 4096}},
    {"gemma_2b", {.width = 2048, .mlp = 16384}},
};

GemmaConfig read_variant(ConfigFields& fields, const char* field, const char* fallback) {
  auto name = fields.text(field, fallback);
  std::vector<const char*> known;
  for (const auto& variant : kVariants) {
    if (name == variant.name) return variant.config;
    known.push_back(variant.name);
  }
  fields.mistake("{} '{}' is not known; known: {}", field, name.substr(0, 60), fmt::join(known, ", "));
  return {};
}

GemmaConfig read_gemma(ConfigFields& fields, const char* field) {
  auto v = fields.integers(field, {kLayerBounds, kWidthBounds, kMlpBounds, kHeadBounds, kHeadBounds, {1, 1024}});
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}

// Reads the exporter's own dialect, which has every size.
void read_plain(ConfigFields& fields, Pi0Config& c) {
  c.views = fields.integer("views", kViewBounds);
  c.prompt = fields.integer("prompt", kTokenBounds);
  if (!c.fast) {
    c.horizon = fields.integer("horizon", kHorizonBounds);
    c.state_dim = c.action_dim = fields.integer("action_dim", kActionBounds);
    c.steps = fields.integer("steps", kStepBounds);
  }
  c.image = fields.integer("image", kImageBounds);
  c.patch = fields.integer("patch", kImageBounds);
  c.vocabulary = fields.integer("vocab", kVocabularyBounds);
  auto v = fields.integers("vision", {kLayerBounds, kWidthBounds, kMlpBounds, kHeadBounds});
  c.vision = {v[0], v[1], v[2], v[3]};
  c.prefix = read_gemma(fields, "prefix");
  c.expert = c.fast ? c.prefix : read_gemma(fields, "expert");
}

// LeRobot lists the robot's cameras; each is a view, and so is each camera that it pads with.
int64_t count_views(const Config& config, ConfigFields& fields) {
  int64_t cameras = 0;
  const auto& json = config.json();
  if (auto features = json.find("input_features"); features != json.end() && features->is_object())
    for (const auto& [name, feature] : features->items()) {
      auto type = feature.is_object() ? feature.find("type") : feature.end();
      if (feature.is_object() && type != feature.end() && *type == "VISUAL") ++cameras;
    }
  cameras += fields.integer("empty_cameras", {0, kViewBounds.max}, 0);
  if (cameras > kViewBounds.max) fields.mistake("{} cameras, wanted at most {}", cameras, kViewBounds.max);
  return cameras > 0 ? cameras : 3;
}

int64_t read_image_size(ConfigFields& fields) {
  auto field = fields.first_present({"image_resolution", "resize_imgs_with_padding"});
  if (!fields.has(field)) return 224;
  auto size = fields.integers(field, {kImageBounds, kImageBounds});
  if (size[0] != size[1]) fields.mistake("{} is {}x{}, wanted a square", field, size[0], size[1]);
  return size[0];
}

// Reads openpi's and LeRobot's dialects: variants by name, sizes with defaults.
void read_published(const Config& config, ConfigFields& fields, Pi0Config& c) {
  fields.flag("pi05", false);  // a mistake unless it is a bool
  c.prefix = read_variant(fields, "paligemma_variant", "gemma_2b");
  c.expert = c.fast ? c.prefix : read_variant(fields, "action_expert_variant", "gemma_300m");
  c.horizon = fields.integer(fields.first_present({"chunk_size", "action_horizon"}), kHorizonBounds, 50);
  c.steps = fields.integer(fields.first_present({"num_inference_steps", "num_steps"}), kStepBounds, 10);
  c.action_dim = fields.integer(fields.first_present({"max_action_dim", "action_dim"}), kActionBounds, 32);
  c.state_dim = fields.integer("max_state_dim", kActionBounds, c.action_dim);
  c.prompt = fields.integer(fields.first_present({"tokenizer_max_length", "max_token_len"}), kTokenBounds,
                            c.adaptive || c.fast ? 200 : 48);
  c.min_period = fields.number("min_period", 1e-9, 1e9, 4e-3);
  c.max_period = fields.number("max_period", 1e-9, 1e9, 4.0);
  c.views = count_views(config, fields);
  c.image = read_image_size(fields);
  if (auto width = fields.integer("proj_width", kWidthBounds, c.expert.width); width != c.expert.width)
    fields.mistake("proj_width is {}, but the action expert's width is {}", width, c.expert.width);
  auto precision = fields.text(fields.first_present({"dtype", "precision"}), "bfloat16");
  c.dtype = precision == "float32" ? DType::f32 : DType::bf16;
}

Status take_shapes(const ImportOptions& options, Pi0Config& c) {
  Shape images = requested_shape(options, "images", {c.views, 3, c.image, c.image});
  Shape tokens = requested_shape(options, "tokens", requested_shape(options, "token_mask", {c.prompt}));
  Shape noise = requested_shape(options, "noise", {c.horizon, c.action_dim});
  Shape image_mask = requested_shape(options, "image_mask", {images.rank() == 4 ? images[0] : c.views});
  if (images.rank() != 4 || image_mask.rank() != 1 || tokens.rank() != 1 || noise.rank() != 2)
    return mismatch("shapes images {}, image_mask {}, tokens {}, noise {}: wanted ranks 4, 1, 1, 2", images, image_mask,
                    tokens, noise);
  c.views = options.shapes.count("images") + options.given.count("images") > 0 ? images[0] : image_mask[0];
  c.prompt = tokens[0];
  c.horizon = noise[0];
  auto inside = [](int64_t v, IntRange b) { return v >= b.min && v <= b.max; };
  if (inside(c.views, kViewBounds) && inside(c.prompt, kTokenBounds) && inside(c.horizon, kHorizonBounds)) return {};
  return mismatch("shapes ask for {} views, {} prompt tokens and a horizon of {}; wanted 1 to {}, {} and {}", c.views,
                  c.prompt, c.horizon, kViewBounds.max, kTokenBounds.max, kHorizonBounds.max);
}

void check_consistent(ConfigFields& fields, const Pi0Config& c) {
  if (c.image % c.patch != 0) fields.mistake("image {} is not a multiple of patch {}", c.image, c.patch);
  if (c.vision.width % c.vision.heads != 0)
    fields.mistake("vision: width {} is not a multiple of {} heads", c.vision.width, c.vision.heads);
  for (const GemmaConfig* g : {&c.prefix, &c.expert}) {
    if (g->heads % g->kv_heads != 0)
      fields.mistake("{} heads are not a multiple of {} kv heads", g->heads, g->kv_heads);
    if (g->head_dim % 2 != 0) fields.mistake("head dim {} is odd; rotary positions need pairs", g->head_dim);
  }
  const auto &p = c.prefix, &e = c.expert;
  if (p.layers != e.layers || p.kv_heads != e.kv_heads || p.head_dim != e.head_dim)
    fields.mistake("prefix and expert differ in layers ({}, {}), kv heads ({}, {}) or head dim ({}, {})", p.layers,
                   e.layers, p.kv_heads, e.kv_heads, p.head_dim, e.head_dim);
  if (e.width % 2 != 0) fields.mistake("expert width {} is odd; the time embedding needs pairs", e.width);
}

int64_t count_gemma(const GemmaConfig& g) {
  int64_t attention = 2 * g.width * g.head_dim * (g.heads + g.kv_heads);
  return g.layers * (attention + 3 * g.width * g.mlp);
}

Status check_size(const Pi0Config& c) {
  if (c.prefix_tokens() > kMostPrefixTokens)
    return fail("config.json: {} image and prompt tokens, wanted at most {}", c.prefix_tokens(), kMostPrefixTokens);
  int64_t unrolled = c.views * c.vision.layers + c.prefix.layers + c.steps * c.expert.layers;
  if (unrolled > kMostUnrolledLayers)
    return fail("config.json: {} layers over all cameras and steps, wanted at most {}", unrolled, kMostUnrolledLayers);
  if (c.steps * c.expert.width > kMostTimeTable)
    return fail("config.json: {} steps of width {} need too large a time table", c.steps, c.expert.width);
  const auto& v = c.vision;
  int64_t vision = v.layers * (4 * v.width * v.width + 2 * v.width * v.mlp) + 3 * c.patch * c.patch * v.width;
  int64_t rest = c.vocabulary * c.prefix.width + 3 * c.expert.width * c.expert.width;
  return check_parameter_count("config.json", vision + rest + count_gemma(c.prefix) + count_gemma(c.expert));
}

}  // namespace

Result<Pi0Config> read_pi0_config(const Config& config, const ImportOptions& options) {
  ConfigFields fields(config);
  Pi0Config c{.adaptive = is_pi05(config), .fast = is_pi0_fast(config)};
  if (fields.has("vision") || fields.has("prefix") || fields.has("expert"))
    read_plain(fields, c);
  else
    read_published(config, fields, c);
  check_consistent(fields, c);
  RUNG_CHECK(fields.status());
  RUNG_CHECK(take_shapes(options, c));
  RUNG_CHECK(check_size(c));
  return c;
}

}  // namespace rung::huggingface
