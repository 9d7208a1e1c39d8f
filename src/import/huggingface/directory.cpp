// Passes a directory with config.json to the importer of its architecture.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/json.hpp"
#include "import/huggingface/architecture.hpp"
#include "import/importers.hpp"

namespace rung::huggingface {

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

namespace {

std::string known_architectures() {
  std::vector<std::string> names;
  for (const auto& architecture : kArchitectures) names.emplace_back(architecture.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string claimed_architecture(const Config& config) {
  for (const char* field : {"model_type", "type"})
    if (auto name = config.get_text(field))
      return fmt::format("{} '{}' is not supported yet", field, name->substr(0, 60));
  return "neither model_type nor type is given";
}

bool is_of(const Architecture& architecture, const Config& config) {
  if (architecture.recognises) return architecture.recognises(config);
  return config.get_text("model_type").value_or("") == architecture.name;
}

const Architecture* recognised(const Config& config) {
  for (const auto& architecture : kArchitectures)
    if (is_of(architecture, config)) return &architecture;
  return nullptr;
}

// A model is returned where it was made: to move one may take memory, which a result does not survive the lack of.
Result<Model> import_as(const Architecture& architecture, const ConfigSource& source) {
  Result<Model> model = architecture.import(source, architecture.classes);
  if (!model) return model;
  if (auto checked = check_requested_shapes(source.options, *model); !checked)
    model = tl::unexpected(std::move(checked.error()));
  else
    model->architecture = architecture.name;
  return model;
}

Result<Model> import_known(const ConfigSource& source) {
  if (const Architecture* architecture = recognised(source.config)) return import_as(*architecture, source);
  return fail("'{}': {} (supported: {}). `rung advise` works on a profiler trace of any model", source.config.what(),
              claimed_architecture(source.config), known_architectures());
}

Result<Model> import_config(const ConfigSource& source) {
  if (auto dtype = source.options.dtype; dtype && *dtype != DType::f32)
    return wrong_usage("importing as {}: wanted f32, or none to keep each type", *dtype);
  return errors_of(ErrorKind::file, import_known(source));
}

// Returns the folder of config.json: sentence-transformers may name a sub-folder for its place in modules.json.
std::string config_directory(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(fs::path(path) / "config.json", ignored)) return path;
  auto inner = fs::path(path) / "0_Transformer";
  return fs::exists(inner / "config.json", ignored) ? inner.string() : path;
}

}  // namespace

bool is_directory(const ModelPath& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path.path, ignored);
}

Result<Model> import_directory(const std::string& path, const ImportOptions& options) {
  const std::string directory = config_directory(path);
  RUNG_TRY(Config config, Config::read((std::filesystem::path(directory) / "config.json").string()));
  return import_config({config, directory, options});
}

Result<Model> import_text(std::string_view config_json, const ImportOptions& options) {
  RUNG_TRY(Config config, Config::parse(config_json, "config.json"));
  return import_config({config, "", options});
}

}  // namespace rung::huggingface
