// Converts flags to values.
// SPDX-License-Identifier: Apache-2.0
#include "cli/models.hpp"

#include <algorithm>
#include <charconv>

#include "import/npz.hpp"

namespace rung::cli {

std::optional<Shape> parse_dims(std::string_view text) {
  Shape shape;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int64_t dim = 0;
    const auto [next, code] = std::from_chars(at, end, dim);
    const bool separated = next == end || (*next == ',' && next + 1 < end);
    if (code != std::errc() || dim < 1 || !separated || shape.rank() == Dims::kMaxRank) return std::nullopt;
    shape.push_back(dim);
    at = next == end ? next : next + 1;
  }
  return shape;
}

namespace {

// Parses "input_ids=1,128".
Result<std::pair<std::string, Shape>> parse_shape(const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return wrong_usage("--shape: got '{}', wanted NAME=1,128", text);
  auto shape = parse_dims(std::string_view(text).substr(equals + 1));
  if (!shape) return wrong_usage("--shape: got '{}', wanted NAME=1,128 with positive dimensions", text);
  return std::pair(text.substr(0, equals), std::move(*shape));
}

// The shapes of each plan's inputs: the k-th shape of an input that is repeated belongs to the k-th plan.
using ShapesOfPlan = std::map<std::string, Shape>;
Result<std::vector<ShapesOfPlan>> parse_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<Shape>> by_name;
  size_t count = 1;
  for (const auto& text : texts) {
    RUNG_TRY(auto named, parse_shape(text));
    auto& shapes = by_name[named.first];
    shapes.push_back(named.second);
    count = std::max(count, shapes.size());
  }
  std::vector<ShapesOfPlan> plans(count);
  for (const auto& [name, shapes] : by_name) {
    if (shapes.size() != 1 && shapes.size() != count)
      return wrong_usage("--shape: '{}' has {} shapes, wanted 1, or {} as another input has", name, shapes.size(),
                         count);
    for (size_t i = 0; i < count; ++i) plans[i][name] = shapes[shapes.size() == 1 ? 0 : i];
  }
  return plans;
}

// The plans of one decoder agree on the largest chunk of a text, which the caches of sliding layers make room for, and
// on the tokens that an encoder reads.
DecoderCache cache_of(const CommonOptions& options, const std::vector<ShapesOfPlan>& plans) {
  DecoderCache cache{.length = options.cache, .scored_chunk = options.scored_chunk};
  const bool has_encoder = plans[0].contains("decoder_input_ids");
  for (const ShapesOfPlan& shapes : plans) {
    const auto tokens = shapes.find(has_encoder ? "decoder_input_ids" : "input_ids");
    if (tokens != shapes.end() && tokens->second.rank() == 2)
      cache.largest_chunk = std::max(cache.largest_chunk, tokens->second[1]);
  }
  if (const auto source = plans[0].find("input_ids"); has_encoder && source != plans[0].end())
    if (source->second.rank() == 2) cache.source = source->second[1];
  return cache;
}

// With a cache, an encoder-decoder's chunks do not take what its encoder reads, which is one more plan's.
bool split_encoder(const CommonOptions& options, std::vector<ShapesOfPlan>& plans) {
  if (options.cache == 0 || !plans[0].contains("decoder_input_ids")) return false;
  for (ShapesOfPlan& shapes : plans) shapes.erase("input_ids");
  return true;
}

// The first file's arrays give inputs their shapes; each further one is one more set of values.
Status add_inputs(const std::vector<std::string>& files, OpenOptions& model) {
  for (const std::string& file : files) {
    RUNG_TRY(GivenArrays set, arrays_in(file));
    (&file == &files.front() ? model.inputs : model.further_inputs.emplace_back()) = std::move(set);
  }
  return {};
}

Result<OpenOptions> without_shapes(const CommonOptions& options) {
  OpenOptions model{.path = options.model,
                    .device = {},
                    .threads = options.threads,
                    .freeze = options.freeze,
                    .observed = options.observed,
                    .random_weights = options.random_weights,
                    .drop_head = options.drop_head,
                    .code = options.trust_code ? CodeUse::trusted : CodeUse::checked,
                    .command_line = true};
  RUNG_TRY(model.dtype, parse_dtype(options.dtype));
  RUNG_CHECK(add_inputs(options.inputs, model));
  RUNG_TRY(model.device, asked_device(options.device, "--"));
  return model;
}

}  // namespace

Result<GivenArrays> arrays_in(const std::string& file) {
  GivenArrays arrays;
  if (file.empty()) return arrays;
  RUNG_TRY(arrays.types, read_npz_types(file));
  arrays.read = [file](const WantsArray& wants) { return read_npz(file, wants); };
  arrays.source = file;
  return arrays;
}

Result<OpenOptions> model_options(const CommonOptions& options) {
  if (options.inputs.size() > 1)
    return wrong_usage(
        "--inputs: got {} files, wanted one: only 'rung climb', 'rung build' and 'rung verify' take several sets",
        options.inputs.size());
  return judged_model_options(options);
}

Result<OpenOptions> judged_model_options(const CommonOptions& options) {
  RUNG_TRY(auto shapes, parse_shapes(options.shapes));
  if (shapes.size() > 1)
    return wrong_usage(
        "--shape: got {} shapes of one input, wanted one: only 'rung climb' and 'rung build' make several plans",
        shapes.size());
  RUNG_TRY(OpenOptions model, without_shapes(options));
  model.cache = cache_of(options, shapes);
  split_encoder(options, shapes);
  model.shapes = std::move(shapes[0]);
  return model;
}

Result<std::vector<OpenOptions>> options_of_each_plan(const CommonOptions& options) {
  RUNG_TRY(auto shapes, parse_shapes(options.shapes));
  RUNG_TRY(OpenOptions model, without_shapes(options));
  model.cache = cache_of(options, shapes);
  const bool has_encoder = split_encoder(options, shapes);
  std::vector<OpenOptions> all(shapes.size(), model);
  for (size_t i = 0; i < all.size(); ++i) all[i].shapes = std::move(shapes[i]);
  if (has_encoder) all.emplace_back(std::move(model)).cache.encodes = true;
  return all;
}

Result<std::optional<Recipe>> recipe_in(const std::string& file) {
  if (file.empty()) return std::nullopt;
  RUNG_TRY(Recipe recipe, load_recipe(file));
  return recipe;
}

}  // namespace rung::cli
