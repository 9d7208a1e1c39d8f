// Imports a model's config with weights that nobody makes: no checkpoint is opened.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/text_limit.hpp"

#include "import/model.hpp"
#include "tasks/model_text.hpp"

namespace rung::tasks {

Result<TextLimit> text_limit_of(const OpenOptions& model) {
  if (is_exported(model.path)) {
    RUNG_CHECK(check_importable(model.path));
    return TextLimit{.architecture = "exported"};
  }
  RUNG_TRY(Model imported, import_model(model.path, {.random_seed = 0, .drop_head = model.drop_head}));
  return TextLimit{imported.positions, std::move(imported.architecture)};
}

bool is_policy(const TextLimit& limit) { return limit.architecture == "pi0_fast"; }

}  // namespace rung::tasks
