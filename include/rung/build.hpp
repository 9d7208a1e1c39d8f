// Plans without a climb: a recipe and a model directory become a model that runs, and may be saved.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/model.hpp>

#include <optional>

namespace rung::api {

// Options of a build; the fields are documented in rung_build_options.
struct BuildOptions {
  Options model = {};
  std::string recipe = {};  // JSON; empty: the default one
  Tensors inputs = {};
  std::vector<std::string> freeze = {};
  bool retune = false;
  double budget_s = 10;
  std::optional<std::string> database = {};  // none: the user's own; empty: no database
};

// Builds the plan of a recipe and opens it, ready to run. See rung_model_build().
inline Result<Model> build(const std::string& path, const BuildOptions& options = {}) {
  if (Status status = detail::check_nuls(path, options.model); !status) return status;
  if (Status status = detail::check_bytes(options.inputs); !status) return status;
  if (Status status = detail::check_nuls("freeze", options.freeze); !status) return status;
  if (Status status = detail::check_nul("recipe", options.recipe); !status) return status;
  if (Status status = detail::check_nul("database", options.database.value_or("")); !status) return status;
  const detail::COptions model(options.model);
  const detail::CTensors inputs(options.inputs);
  const auto freeze = detail::c_strings(options.freeze);
  rung_build_options c RUNG_BUILD_OPTIONS_INIT;
  c.model = &model.options;
  if (!options.recipe.empty()) c.recipe = options.recipe.c_str();
  c.inputs = inputs.named.data(), c.input_count = inputs.named.size();
  c.freeze = freeze.data(), c.freeze_count = freeze.size();
  c.retune = options.retune;
  c.budget_s = options.budget_s;
  if (options.database) c.database = options.database->c_str();
  rung_model* built = nullptr;
  if (auto code = rung_model_build(path.c_str(), &c, &built)) return Status::of(code);
  return Model(built);
}

}  // namespace rung::api
