// Reads the files that sentence-transformers keeps beside a BERT: modules.json and the pooling's config.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "import/huggingface/config_fields.hpp"
#include "import/huggingface/text_config.hpp"

namespace rung::huggingface {
namespace {

namespace fs = std::filesystem;

struct PoolingFlag {
  const char* name;
  PoolingMode mode;
};
// The pooling modes, in the order in which their results are concatenated.
constexpr PoolingFlag kPoolingFlags[] = {
    {"pooling_mode_cls_token", PoolingMode::cls},
    {"pooling_mode_max_tokens", PoolingMode::max},
    {"pooling_mode_mean_tokens", PoolingMode::mean},
    {"pooling_mode_mean_sqrt_len_tokens", PoolingMode::mean_sqrt_length},
};
constexpr const char* kUnsupportedFlags[] = {"pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};

Result<std::vector<PoolingMode>> read_pooling(const fs::path& file, int64_t width) {
  RUNG_TRY(Config config, Config::read(file.string()));
  ConfigFields fields(config);
  std::vector<PoolingMode> modes;
  for (const auto& row : kPoolingFlags)
    if (fields.flag(row.name, false)) modes.push_back(row.mode);
  for (const char* name : kUnsupportedFlags)
    if (fields.flag(name, false)) fields.mistake("{} is not supported", name);
  if (auto d = fields.integer("word_embedding_dimension", {1, 65536}, width); d != width)
    fields.mistake("word_embedding_dimension is {}, but the transformer's hidden_size is {}", d, width);
  if (modes.empty()) fields.mistake("no supported pooling mode is set");
  RUNG_CHECK(fields.status());
  return modes;
}

// Returns the folder that modules.json names, which is inside the model's directory.
Result<fs::path> module_folder(const fs::path& directory, const std::string& name) {
  fs::path relative(name);
  for (const auto& part : relative)
    if (part == ".." || part.has_root_path()) return fail("modules.json: path '{}' leaves the model's directory", name);
  return directory / relative;
}

struct ModuleRow {
  std::string type, path;  // type: the last part of "sentence_transformers.models.Pooling"
};

Result<std::vector<ModuleRow>> read_modules(const fs::path& file) {
  RUNG_TRY(auto list, read_json_file(file.string()));
  if (!list.is_array()) return fail("{}: wanted a JSON list of modules", file.string());
  std::vector<ModuleRow> rows;
  for (const auto& item : list) {
    auto text = [&](const char* field) {
      auto it = item.is_object() ? item.find(field) : item.end();
      return item.is_object() && it != item.end() && it->is_string() ? it->get<std::string>() : std::string();
    };
    auto type = text("type");
    if (type.empty()) return fail("{}: a module without a type", file.string());
    rows.push_back({type.substr(type.rfind('.') + 1), text("path")});
  }
  return rows;
}

// Returns the folder of modules.json: the model's directory, or the one above if the transformer has its own folder.
fs::path modules_directory(const std::string& directory) {
  std::error_code ignored;
  fs::path here(directory);
  if (here.filename() == "0_Transformer" && !fs::exists(here / "modules.json", ignored)) return here.parent_path();
  return here;
}

}  // namespace

Result<SentenceConfig> read_sentence_config(const std::string& directory, int64_t width) {
  SentenceConfig sentence;
  fs::path root = modules_directory(directory);
  std::error_code ignored;
  if (directory.empty() || !fs::exists(root / "modules.json", ignored)) return sentence;
  RUNG_TRY(auto modules, read_modules(root / "modules.json"));
  for (const auto& module : modules) {
    if (module.type == "Transformer") continue;
    if (module.type == "Normalize" && !sentence.modes.empty()) {
      sentence.normalize = true;
    } else if (module.type == "Pooling" && sentence.modes.empty()) {
      RUNG_TRY(auto folder, module_folder(root, module.path));
      RUNG_TRY(sentence.modes, read_pooling(folder / "config.json", width));
    } else {
      return fail("modules.json: module '{}' is not supported here; wanted Transformer, Pooling, then Normalize",
                  module.type.substr(0, 60));
    }
  }
  return sentence;
}

}  // namespace rung::huggingface
