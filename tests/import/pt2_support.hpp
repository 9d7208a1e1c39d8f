// Helpers for tests of exported PyTorch programs: a program of one call, which tests change and write.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "import/huggingface_support.hpp"
#include "import/zip.hpp"

namespace rung {

using nlohmann::json;

inline json sizes_of(const std::vector<int64_t>& sizes) {
  json list = json::array();
  for (int64_t size : sizes) list.push_back({{"as_int", size}});
  return list;
}
inline json meta(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset = 0,
                 int dtype = 7) {
  return {{"dtype", dtype},
          {"sizes", sizes_of(sizes)},
          {"strides", sizes_of(strides)},
          {"storage_offset", {{"as_int", offset}}},
          {"layout", 7}};
}
inline json tensor(const char* name) { return {{"as_tensor", {{"name", name}}}}; }
inline json call(const char* target, std::vector<std::pair<const char*, json>> arguments, const char* result) {
  json inputs = json::array();
  for (const auto& [name, argument] : arguments) inputs.push_back({{"name", name}, {"arg", argument}});
  return {{"target", std::string("torch.ops.") + target},
          {"inputs", inputs},
          {"outputs", {tensor(result)}},
          {"metadata",
           {{"nn_module_stack", "L__self__,,Model;L__self___head,head,Head"},
            {"stack_trace", "File \"/home/user/model.py\", line 7, in forward\n    return self.head(x)"}}}};
}

inline json numbered(int64_t value) { return {{"as_int", value}}; }

// y = x + w, with x of two numbers and w a parameter of two; tests change what they are about.
struct Pt2 : testing::Test {
  TemporaryDirectory directory;
  std::string path = directory / "m.pt2";
  json program, weights;
  std::vector<float> numbers{1, 2, 3, 4};  // of the weight's member
  std::map<std::string, std::string> more;

  Pt2() {
    program = {{"schema_version", {{"major", 8}, {"minor", 20}}}, {"range_constraints", json::object()}};
    json& graph = program["graph_module"]["graph"];
    graph["tensor_values"] = {{"x", meta({2}, {1})}, {"p_w", meta({2}, {1})}, {"y", meta({2}, {1})}};
    graph["nodes"] = {call("aten.add.Tensor", {{"self", tensor("x")}, {"other", tensor("p_w")}}, "y")};
    json& signature = program["graph_module"]["signature"];
    signature["input_specs"] = {{{"parameter", {{"arg", {{"name", "p_w"}}}, {"parameter_name", "w"}}}},
                                {{"user_input", {{"arg", tensor("x")}}}}};
    signature["output_specs"] = {{{"user_output", {{"arg", tensor("y")}}}}};
    weights["w"] = {
        {"path_name", "weight_0"}, {"is_param", true}, {"use_pickle", false}, {"tensor_meta", meta({2}, {1})}};
  }
  json& graph() { return program["graph_module"]["graph"]; }
  void write() {
    std::ofstream file(path, std::ios::binary);
    ZipWriter zip(file);
    const std::map<std::string, std::string> texts{
        {"archive_format", "pt2"},
        {"models/model.json", program.dump()},
        {"data/weights/model_weights_config.json", json{{"config", weights}}.dump()}};
    for (const auto& [name, text] : texts) ASSERT_TRUE(zip.add("m/" + name, text, {}));
    for (const auto& [name, text] : more) ASSERT_TRUE(zip.add("m/" + name, text, {}));
    ASSERT_TRUE(zip.add("m/data/weights/weight_0", "", std::as_bytes(std::span(numbers))));
    zip.finish();
  }
  std::vector<float> answer(const std::vector<float>& x = {10, 20}, const ImportOptions& options = {}) {
    write();
    const Model model = import_verified(path, options);
    const auto outputs = evaluate(model.graph, {{"x", Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}});
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    return {outputs->at(0).as<float>().begin(), outputs->at(0).as<float>().end()};
  }
  std::string refusal(const ImportOptions& options = {}) {
    write();
    return import_error(path, options);
  }
};

}  // namespace rung
