// From a directory, or a config's text, to the importer of its architecture.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/json.hpp"
#include "import/huggingface/architecture.hpp"
#include "import/model.hpp"

namespace rung {
namespace huggingface {

Result<std::unique_ptr<Checkpoint>> open_weights(const ConfigSource& source, DType usual) {
  if (source.options.random_seed) return random_checkpoint(*source.options.random_seed, usual);
  return open_checkpoint(source.directory);
}

Shape requested_shape(const ImportOptions& options, const std::string& input, const Shape& fallback) {
  for (const auto* shapes : {&options.shapes, &options.given})
    if (auto it = shapes->find(input); it != shapes->end()) return it->second;
  return fallback;
}

Status check_requested_shapes(const ImportOptions& options, const Model& model) {
  for (const auto& [name, shape] : options.shapes) {
    auto it = model.defaults.find(name);
    if (it == model.defaults.end()) {
      std::vector<std::string> known;
      for (const auto& [input, rule] : model.defaults) known.push_back(input);
      return mismatch("a shape for input '{}': the inputs are {}", name, fmt::join(known, ", "));
    }
    if (it->second.type.shape != shape)
      return mismatch("shape {} for input '{}': with the other shapes given it would be {}", shape, name,
                      it->second.type.shape);
  }
  return {};
}

}  // namespace huggingface

namespace {

std::string known_architectures() {
  std::vector<std::string> names;
  for (const auto& architecture : huggingface::kArchitectures) names.emplace_back(architecture.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string claimed_architecture(const Config& config) {
  for (const char* field : {"model_type", "type"})
    if (auto name = config.get_text(field))
      return fmt::format("{} '{}' is not supported yet", field, name->substr(0, 60));
  return "neither model_type nor type is given";
}

// By the importer that knows it.
Result<Model> import_known(const huggingface::ConfigSource& source) {
  for (const auto& architecture : huggingface::kArchitectures)
    if (architecture.recognises(source.config)) {
      RUNG_TRY(Model model, architecture.import(source));
      RUNG_CHECK(huggingface::check_requested_shapes(source.options, model));
      model.architecture = architecture.name;
      return model;
    }
  return fail("'{}': {} (supported: {}). `rung advise` works on a profiler trace of any model", source.config.what(),
              claimed_architecture(source.config), known_architectures());
}

Result<Model> import_config(const huggingface::ConfigSource& source) {
  if (auto dtype = source.options.dtype; dtype && *dtype != DType::f32)
    return wrong_usage("importing as {}: wanted f32, or none to keep each type", *dtype);
  return errors_of(ErrorKind::file, import_known(source));
}

// sentence-transformers may keep the transformer itself in a sub-folder, named for its place in modules.json.
std::string config_directory(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(fs::path(path) / "config.json", ignored)) return path;
  auto inner = fs::path(path) / "0_Transformer";
  return fs::exists(inner / "config.json", ignored) ? inner.string() : path;
}

// The last value of a label is the result of the part that it names.
Status observe(Graph& graph, const std::string& label) {
  NodeId found = kNoNode;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next)
    if (graph[id].label == label) found = id;
  if (found == kNoNode) return fail("no value of the model is labelled '{}'; `inspect --graph` prints them all", label);
  graph.set_output(label, found);
  return {};
}

}  // namespace

Result<Model> import_model(const std::string& path, const ImportOptions& options) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return bad_file("'{}' is not a directory; a model is a directory with config.json", path);
  auto directory = config_directory(path);
  RUNG_TRY(Config config, Config::read((fs::path(directory) / "config.json").string()));
  RUNG_TRY(Model model, import_config({config, directory, options}));
  fs::path full = fs::weakly_canonical(path, ignored);
  model.name = valid_utf8((full.has_filename() ? full : full.parent_path()).filename().string());
  for (const auto& label : options.observed) RUNG_CHECK(observe(model.graph, label));
  model.graph.name = model.architecture;
  return model;
}

Result<Model> import_config_text(std::string_view config_json, const ImportOptions& options) {
  RUNG_TRY(Config config, Config::parse(config_json, "config.json"));
  ImportOptions random = options;
  random.random_seed = options.random_seed.value_or(0);
  RUNG_TRY(Model model, import_config({config, "", random}));
  model.name = model.graph.name = model.architecture;
  return model;
}

size_t count_parameters(const Graph& graph) {
  size_t total = 0;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next)
    if (graph.is_constant(id) && !graph.weight(id)->immediate())
      total += static_cast<size_t>(graph.type(id).elements());
  return total;
}

}  // namespace rung
