// Finds the importer that recognises a path.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "base/json.hpp"
#include "import/huggingface/local_cache.hpp"
#include "import/importers.hpp"

namespace rung {
namespace {

// A cache that nothing remembers would be ignored in silence.
Status check_cache(const ImportOptions& options, const Model& model) {
  if (options.cache.length == 0 && options.cache.scored_chunk > 0)
    return wrong_usage("chunks of up to {} tokens with all scores: got no cache, which says how long a text is",
                       options.cache.scored_chunk);
  if (options.cache.length == 0 || !model.graph.states().empty()) return {};
  return wrong_usage("a cache of {} tokens: {} has no keys and values to remember", options.cache.length,
                     model.architecture);
}

// The longest beginning that any format needs.
constexpr size_t kMagicBytes = 64;

ModelPath look_at(const std::string& path) {
  ModelPath found{path, {}};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return found;
  std::ifstream file(path, std::ios::binary);
  found.magic.resize(kMagicBytes);
  file.read(found.magic.data(), static_cast<std::streamsize>(kMagicBytes));
  found.magic.resize(static_cast<size_t>(file.gcount()));
  return found;
}

const char* what_is_at(const ModelPath& seen) {
  std::error_code ignored;
  if (!seen.magic.empty()) return "a file of no known format";
  return std::filesystem::is_regular_file(seen.path, ignored) && std::filesystem::is_empty(seen.path, ignored)
             ? "an empty file"
             : "nothing that can be read";
}

Result<const Importer*> importer_of(const std::string& path) {
  const ModelPath seen = look_at(path);
  for (const Importer& importer : kImporters)
    if (importer.recognises(seen)) return &importer;
  return bad_file("'{}' is not a model: got {}, wanted {}, or the name of a model in '{}'", path, what_is_at(seen),
                  fmt::join(importable_kinds(), ", "), huggingface::cache_folder());
}

// Returns the path, or, where nothing stands at it, the directory of the model that it names.
std::string found_at(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  return huggingface::cached_directory(path).value_or(path);
}

}  // namespace

std::vector<std::string_view> importable_kinds() {
  std::vector<std::string_view> kinds;
  for (const Importer& importer : kImporters) kinds.push_back(importer.what);
  return kinds;
}

Status observe(Graph& graph, const std::string& label) {
  NodeId found = kNoNode;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next)
    if (graph[id].label == label) found = id;
  if (found == kNoNode) return fail("no value of the model is labelled '{}'; `inspect --graph` prints them all", label);
  graph.set_output(label, found);
  return {};
}

Result<Model> import_model(const std::string& path, const ImportOptions& options) {
  const std::string found = found_at(path);
  RUNG_TRY(const Importer* importer, importer_of(found));
  RUNG_TRY(Model model, importer->import(found, options));
  RUNG_CHECK(check_cache(options, model));
  std::error_code ignored;
  const std::filesystem::path full = std::filesystem::weakly_canonical(path, ignored);
  model.name = valid_utf8((full.has_filename() ? full : full.parent_path()).filename().string());
  for (const auto& label : options.observed) RUNG_CHECK(observe(model.graph, label));
  model.graph.name = model.architecture;
  return model;
}

Status check_importable(const std::string& path) {
  RUNG_TRY([[maybe_unused]] const Importer* importer, importer_of(found_at(path)));
  return {};
}

Result<Model> import_config_text(std::string_view config_json, const ImportOptions& options) {
  ImportOptions random = options;
  random.random_seed = options.random_seed.value_or(0);
  RUNG_TRY(Model model, huggingface::import_text(config_json, random));
  RUNG_CHECK(check_cache(options, model));
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
