// Imports a *.pt2 file.
// SPDX-License-Identifier: Apache-2.0
#include "import/importers.hpp"
#include "import/pt2/program.hpp"

namespace rung::pt2 {

bool is_archive(const ModelPath& path) { return path.magic.starts_with("PK\x03\x04") && path.path.ends_with(".pt2"); }

Result<Model> import_archive(const std::string& path, const ImportOptions& options) {
  RUNG_TRY(auto archive, Archive::open(path));
  RUNG_TRY(auto document, archive->program());
  return Program(std::move(archive), std::move(document), options).import();
}

}  // namespace rung::pt2
