// Runs an exported program symbolically: every call of its graph becomes nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "import/model.hpp"
#include "import/pt2/archive.hpp"
#include "import/pt2/call.hpp"

namespace rung::pt2 {

// The values that stand behind the names of a graph.
using Environment = std::map<std::string, Value, std::less<>>;

class Program {
 public:
  // `document`: the JSON of models/*.json. Throws what the JSON library throws where a field is missing or of another
  // kind.
  Program(std::shared_ptr<const Archive> archive, nlohmann::json document, const ImportOptions& options);

  // Errors name the file, the node with its operator and module, and the line of the author's code.
  Result<Model> import();

 private:
  Status check_version() const;
  Status bind_symbols();
  Status add_inputs();
  Status add_input(const nlohmann::json& spec);
  Status add_user_input(const nlohmann::json& argument);
  Status add_weight(const std::string& value, const std::string& name);
  Status add_outputs();
  Result<Shape> shape_of_input(const std::string& name) const;
  const nlohmann::json& graph() const { return document_.at("graph_module").at("graph"); }

  // Adds the nodes of a graph, which may be a part of another.
  Status run(const nlohmann::json& graph, Environment& names);
  Status run_node(const nlohmann::json& node, Environment& names);
  Result<Values> results_of(const nlohmann::json& node, Environment& names);
  Result<Values> run_part(const nlohmann::json& node, Environment& names);
  Value value_of(const nlohmann::json& argument, const Environment& names) const;
  // The type in which values of this type are computed: the options may ask for f32 in place of 16 bits.
  DType computed(DType dtype) const { return options_.dtype && is_narrow(dtype) ? *options_.dtype : dtype; }

  std::shared_ptr<const Archive> archive_;
  nlohmann::json document_;
  const ImportOptions& options_;
  Model model_;
  GraphBuilder builder_{model_.graph};
  Environment names_;
  std::map<std::string, int64_t> symbols_;  // sizes that the options or the inputs' shapes settle
};

}  // namespace rung::pt2
