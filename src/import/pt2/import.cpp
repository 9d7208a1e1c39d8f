// Imports a *.pt2 file.
// SPDX-License-Identifier: Apache-2.0
#include "import/importers.hpp"
#include "import/pt2/program.hpp"

namespace rung::pt2 {

bool is_archive(const ModelPath& path) { return path.magic.starts_with("PK\x03\x04") && path.path.ends_with(".pt2"); }

Result<Model> import_archive(const std::string& path, const ImportOptions& options) {
  RUNG_TRY(auto archive, Archive::open(path));
  RUNG_TRY(auto document, archive->program());
  if (options.cache.length > 0)
    return wrong_usage("a cache of {} tokens: the buffers of an exported program have the sizes it was exported with",
                       options.cache.length);
  // That a program writes a buffer may show in its calls alone: it is then run once more, with the buffer as a state.
  std::set<std::string> states;
  Program program(archive, document, options, states);
  RUNG_TRY(Model model, program.import());
  states = program.written();
  if (states.empty()) return model;
  Program with_states(std::move(archive), document, options, states);
  return with_states.import();
}

}  // namespace rung::pt2
