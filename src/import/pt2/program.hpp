// Runs an exported program symbolically: every call of its graph becomes nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "import/model.hpp"
#include "import/pt2/archive.hpp"
#include "import/pt2/call.hpp"

namespace rung::pt2 {

// A name that shows elements of another's.
struct View {
  std::string name, base;
  const nlohmann::json* node;  // the call that made it
  size_t result;               // of that call
  bool is_certain;             // false: it may have a copy of them
};

// The values that stand behind the names of a graph, and how the names share elements.
struct Environment {
  std::map<std::string, Value, std::less<>> values;
  std::vector<View> views;          // in the order in which they were made
  std::set<std::string> borrowed;   // names of tensors that another graph has, too
  std::set<std::string> unsettled;  // names of which a write left open what they show
};

class Program {
 public:
  // `document`: the JSON of models/*.json, which outlives this. `states`: the buffers that are states, because the
  // program writes them. Throws what the JSON library throws where a field is missing or of another kind.
  Program(std::shared_ptr<const Archive> archive, const nlohmann::json& document, const ImportOptions& options,
          const std::set<std::string>& states);

  // Errors name the file, the node with its operator and module, and the line of the author's code.
  Result<Model> import();
  // After import(): the buffers that the program writes, as the signature says or its calls show.
  std::set<std::string> written() const;

 private:
  Status check_version() const;
  Status bind_symbols();
  Status add_inputs();
  Status add_input(const nlohmann::json& spec);
  Status add_user_input(const nlohmann::json& argument);
  Status add_weight(const std::string& value, const std::string& name);
  Status add_state(const std::string& value, const std::string& name);
  Status add_outputs();
  Status add_output(const nlohmann::json& argument);
  Status write_states();
  Result<Shape> shape_of_input(const std::string& name) const;
  const nlohmann::json& graph() const { return document_.at("graph_module").at("graph"); }

  // Adds the nodes of a graph, which may be a part of another.
  Status run(const nlohmann::json& graph, Environment& names);
  Status run_node(const nlohmann::json& node, Environment& names);
  Result<Values> results_of(const nlohmann::json& node, Environment& names);
  Call call_of(const nlohmann::json& node, const Environment& names);
  static std::string target_of(const nlohmann::json& node);
  void note_views(const nlohmann::json& node, const std::vector<std::string>& results, Environment& names) const;
  // Returns what the call returns: its result in the type and the shape of what it writes.
  Result<Value> write(const nlohmann::json& node, const Value& result, Environment& names);
  Result<Values> run_part(const nlohmann::json& node, Environment& names);
  Value value_of(const nlohmann::json& argument, const Environment& names);
  // The type in which values of this type are computed: the options may ask for f32 in place of 16 bits.
  DType computed(DType dtype) const { return options_.dtype && is_narrow(dtype) ? *options_.dtype : dtype; }

  std::shared_ptr<const Archive> archive_;
  const nlohmann::json& document_;
  const ImportOptions& options_;
  const std::set<std::string>& states_;
  Model model_;
  GraphBuilder builder_{model_.graph};
  Environment names_;
  std::map<std::string, int64_t> symbols_;  // sizes that the options or the inputs' shapes settle
  struct Buffer {
    std::string value;  // its name in the graph
    NodeId first;       // what it holds when a run begins
  };
  std::map<std::string, Buffer> buffers_;
  std::vector<State> kept_;                 // the states
  std::map<std::string, Value> mutations_;  // what buffers become, where the signature says it
};

}  // namespace rung::pt2
