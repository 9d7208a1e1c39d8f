// Sources of an importer's weights: safetensors files, or a generator when a directory has only config.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // Gives a weight. Errors: missing, or another shape; they name the tensor, what was got and what was wanted.
  virtual Result<std::shared_ptr<const Weight>> get(const std::string& name, const Shape& shape) const = 0;
  // A random checkpoint has every name: ask for the primary name before its aliases.
  virtual bool contains(const std::string& name) const = 0;
  virtual std::vector<std::string> names() const = 0;  // sorted; empty for a random checkpoint
  virtual std::optional<Type> type(
      const std::string& name) const = 0;  // nullopt where the name (or its shape) is unknown
};

// Opens model.safetensors, or the shards of model.safetensors.index.json, or the only *.safetensors of the directory.
Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& directory);

// Makes a checkpoint whose get() always succeeds, with a weight that takes no memory until load() and whose contents
// depend only on seed, name, dtype and shape. Names that look like an embedding table, a norm or a bias get the scale
// that such a parameter usually starts from.
std::unique_ptr<Checkpoint> random_checkpoint(uint64_t seed, DType dtype);

// Returns the checkpoint's names that the importer did not ask for, sorted.
std::vector<std::string> unused(const Checkpoint& checkpoint, const std::set<std::string>& used);

}  // namespace rung
