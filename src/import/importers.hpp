// THE list of importers: each recognises its paths, and makes a model of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "import/model.hpp"

namespace rung {

// A path, and the first bytes of the file at it; empty: a directory, or no readable file.
struct ModelPath {
  std::string path;
  std::string magic;
};

namespace huggingface {
bool is_directory(const ModelPath& path);
Result<Model> import_directory(const std::string& path, const ImportOptions& options);
Result<Model> import_text(std::string_view config_json, const ImportOptions& options);
}  // namespace huggingface

namespace pt2 {
bool is_archive(const ModelPath& path);
Result<Model> import_archive(const std::string& path, const ImportOptions& options);
}  // namespace pt2

namespace onnx {
bool is_file(const ModelPath& path);
Result<Model> import_file(const std::string& path, const ImportOptions& options);
}  // namespace onnx

struct Importer {
  std::string_view name, what;  // what: for people, "a directory with config.json"
  bool (*recognises)(const ModelPath& path);
  // Imports a model. Names and labels are the author's. Errors name the file, the node with its scopes, what was got
  // and what was wanted.
  Result<Model> (*import)(const std::string& path, const ImportOptions& options);
};

inline constexpr Importer kImporters[] = {
    {"huggingface", "a directory with config.json", huggingface::is_directory, huggingface::import_directory},
    {"pt2", "a *.pt2 file of torch.export.save()", pt2::is_archive, pt2::import_archive},
    {"onnx", "an ONNX file (*.onnx)", onnx::is_file, onnx::import_file},
};

}  // namespace rung
