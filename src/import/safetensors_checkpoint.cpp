// Makes a checkpoint of one or more safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "import/checkpoint.hpp"
#include "ir/safetensors.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;
using File = std::shared_ptr<const Safetensors>;

class FileWeight : public Weight {
 public:
  FileWeight(std::string name, Type type, File file) : Weight(std::move(name), type), file_(std::move(file)) {}
  Result<Tensor> load() const override { return file_->load(name()); }

 private:
  File file_;
};

class SafetensorsCheckpoint : public Checkpoint {
 public:
  explicit SafetensorsCheckpoint(std::string directory) : directory_(std::move(directory)) {}

  Status add(const File& file) {
    for (const auto& [name, entry] : file->tensors()) {
      auto [found, fresh] = files_.try_emplace(name, file);
      if (!fresh) return bad_file("tensor '{}' is in '{}' and in '{}'", name, found->second->path(), file->path());
    }
    return {};
  }
  Result<std::shared_ptr<const Weight>> get(const std::string& name, const Shape& shape) const override {
    auto got = type(name);
    if (!got) return bad_file("'{}': no tensor '{}', wanted one of shape {}", directory_, name, shape);
    if (got->shape != shape)
      return bad_file("'{}': tensor '{}': got {}, wanted shape {}", directory_, name, *got, shape);
    return std::make_shared<FileWeight>(name, *got, files_.at(name));
  }
  bool contains(const std::string& name) const override { return files_.contains(name); }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, file] : files_) all.push_back(name);
    return all;
  }
  std::optional<Type> type(const std::string& name) const override {
    auto found = files_.find(name);
    if (found == files_.end()) return std::nullopt;
    return found->second->tensors().at(name).type;
  }

 private:
  std::string directory_;
  std::map<std::string, File> files_;
};

// Returns whether a shard lies beside its index; any other name could reach outside the model's directory.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

// Returns tensor name -> shard file name.
Result<std::map<std::string, std::string>> read_index(const std::string& path) {
  RUNG_TRY(auto index, read_json_file(path));
  auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object())
    return bad_file("'{}': wanted an object with an object 'weight_map'", path);
  std::map<std::string, std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || !is_plain_name(shard.get_ref<const std::string&>()))
      return bad_file("'{}': weight_map '{}': got {}, wanted a file name", path, tensor, describe(shard));
    shards[tensor] = shard.get<std::string>();
  }
  return shards;
}

Result<std::unique_ptr<Checkpoint>> open_sharded(const std::string& directory, const std::string& index) {
  RUNG_TRY(auto shards, read_index(index));
  auto checkpoint = std::make_unique<SafetensorsCheckpoint>(directory);
  std::map<std::string, File> files;
  for (const auto& [tensor, shard] : shards) {
    auto& file = files[shard];
    if (!file) {
      RUNG_TRY(file, Safetensors::open((fs::path(directory) / shard).string()));
      RUNG_CHECK(checkpoint->add(file));
    }
    if (!file->tensors().contains(tensor)) return bad_file("'{}': shard '{}' has no tensor '{}'", index, shard, tensor);
  }
  return checkpoint;
}

Result<std::unique_ptr<Checkpoint>> open_single(const std::string& directory, const std::string& path) {
  RUNG_TRY(File file, Safetensors::open(path));
  auto checkpoint = std::make_unique<SafetensorsCheckpoint>(directory);
  RUNG_CHECK(checkpoint->add(file));
  return checkpoint;
}

Result<std::vector<std::string>> safetensors_in(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".safetensors") paths.push_back(entry->path().string());
  if (error) return bad_file("'{}': cannot list it: {}", directory, error.message());
  return paths;
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return bad_file("'{}': no such directory", directory);
  auto path = [&](const char* name) { return (fs::path(directory) / name).string(); };
  if (auto single = path("model.safetensors"); fs::exists(single, error)) return open_single(directory, single);
  if (auto index = path("model.safetensors.index.json"); fs::exists(index, error))
    return open_sharded(directory, index);
  RUNG_TRY(auto found, safetensors_in(directory));
  if (found.size() == 1) return open_single(directory, found[0]);
  return bad_file(
      "'{}': got {} *.safetensors files, wanted model.safetensors, model.safetensors.index.json or exactly one "
      "*.safetensors",
      directory, found.size());
}

std::vector<std::string> unused(const Checkpoint& checkpoint, const std::set<std::string>& used) {
  auto names = checkpoint.names();
  std::erase_if(names, [&](const std::string& name) { return used.contains(name); });
  return names;
}

}  // namespace rung
