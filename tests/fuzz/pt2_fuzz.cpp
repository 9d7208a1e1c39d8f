// Any bytes as an exported PyTorch program, whole or as the texts of an archive: refused, or the graph made of them is
// sound.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/mapped_file.hpp"
#include "import/importers.hpp"
#include "import/zip.hpp"
#include "ir/verify.hpp"
#include "seeds.hpp"

namespace {

using nlohmann::json;

constexpr char kBetween = '\n';  // the program, and the table of weights

std::string archive_of(std::string_view program, std::string_view weights) {
  std::ostringstream out;
  rung::ZipWriter zip(out);
  static constexpr std::array<float, 64> kNumbers{1, 2, 3, 4};
  bool written = zip.add("m/archive_format", "pt2", {}).has_value();
  written &= zip.add("m/models/model.json", program, {}).has_value();
  written &= zip.add("m/data/weights/model_weights_config.json", weights, {}).has_value();
  written &= zip.add("m/data/weights/weight_0", "", std::as_bytes(std::span(kNumbers))).has_value();
  rung::require(written, "an archive to read");
  zip.finish();
  return out.str();
}

json program_of(const std::string& path) {
  auto file = rung::MappedFile::open(path);
  rung::require(file.has_value(), "a test model");
  auto members = rung::read_zip_directory((*file)->bytes(), path);
  rung::require(members.has_value(), "an archive");
  for (const rung::ZipMember& member : *members) {
    if (!member.name.ends_with("models/model.json")) continue;
    std::string text(member.size, '\0');
    rung::ZipReader reader(member);
    rung::require(reader.read(std::as_writable_bytes(std::span(text))).has_value(), "a program");
    return json::parse(text);
  }
  return {};
}

// Returns the program with one node alone: the tensors that it reads are inputs, those that it writes are outputs.
json alone(const json& program, const json& node) {
  json one = program;
  json& graph = one["graph_module"]["graph"];
  json values = json::object(), inputs = json::array(), outputs = json::array();
  const auto add = [&](const json& argument, json& specs, const char* kind) {
    if (!argument.contains("as_tensor")) return;
    const std::string name = argument["as_tensor"]["name"];
    values[name] = graph["tensor_values"][name];
    specs.push_back({{kind, {{"arg", argument}}}});
  };
  for (const json& input : node["inputs"]) {
    add(input["arg"], inputs, "user_input");
    for (const json& part : input["arg"].value("as_tensors", json::array()))
      add({{"as_tensor", part}}, inputs, "user_input");
  }
  for (const json& output : node["outputs"]) add(output, outputs, "user_output");
  graph["tensor_values"] = values;
  graph["nodes"] = {node};
  graph["inputs"] = graph["outputs"] = json::array();
  one["graph_module"]["signature"]["input_specs"] = inputs;
  one["graph_module"]["signature"]["output_specs"] = outputs;
  one["graph_module"]["module_call_graph"] = json::array();
  return one;
}

}  // namespace

// One program per operator of the test models.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::map<std::string, std::string> by_operator;
  for (const char* name : {"llama", "bert_eager", "vit_decomposed", "t5_encoder", "gpt2", "dinov2", "siglip", "mpnet",
                           "resnet", "detector", "dcgan"}) {
    const json program = program_of(std::string(RUNG_TEST_DATA) + "/exported/" + name + ".pt2");
    for (const json& node : program["graph_module"]["graph"]["nodes"])
      by_operator.try_emplace(node["target"], alone(program, node).dump() + kBetween + R"({"config": {}})");
  }
  std::vector<std::string> seeds;
  for (const auto& [target, seed] : by_operator) seeds.push_back(seed);
  seeds.push_back(archive_of("{}", "{}"));
  rung::write_seeds(*argc, *argv, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t between = text.find(kBetween);
  std::string bytes(text);
  if (!text.starts_with("PK"))
    bytes = archive_of(text.substr(0, between), between == text.npos ? "{}" : text.substr(between + 1));
  static const int file = memfd_create("model", 0);
  require(ftruncate(file, 0) == 0 && pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "a file to read");
  auto model = pt2::import_archive("/proc/self/fd/" + std::to_string(file), {.shapes = {{"s7", Shape{3}}}});
  if (model) require(verify(model->graph).has_value(), "the graph is sound");
  return 0;
}
