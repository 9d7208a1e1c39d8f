// Imports a *.onnx file.
// SPDX-License-Identifier: Apache-2.0
#include "import/importers.hpp"
#include "import/onnx/program.hpp"

namespace rung::onnx {

bool is_file(const ModelPath& path) { return !path.magic.empty() && path.path.ends_with(".onnx"); }

Result<Model> import_file(const std::string& path, const ImportOptions& options) {
  RUNG_TRY(auto file, MappedFile::open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  auto model = read_model(bytes);
  if (!model) return fail_in(model.error(), "'{}'", path);
  return Program(std::move(file), std::move(*model), options).import();
}

}  // namespace rung::onnx
