// Any bytes as a plan file, and any JSON as the launches of its plans (which in a file the checksum would shield), or
// as the code of their kernels; bytes after a 'C' are packed code, which no change of Base64 text would reach.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/limits.hpp"
#include "base/zlib_data.hpp"
#include "ir/safetensors.hpp"
#include "ir/text.hpp"
#include "plan/build.hpp"
#include "plan/check.hpp"
#include "plan/file.hpp"
#include "plan/set_json.hpp"
#include "seeds.hpp"

namespace {

std::string json_of(std::vector<rung::Plan> plans) {
  auto set = rung::PlanSet::make(std::move(plans));
  rung::require(set.has_value(), "the seed is a set of plans");
  return rung::set_to_json(*set).dump();
}

// Steps with weights, packed or not, scratch, views and a default: a plan that passes every check.
rung::Plan sound_plan(int tokens) {
  using namespace rung;
  auto zeros = [](const std::string& name, const Type& type) { return std::make_shared<Literal>(name, Tensor(type)); };
  auto graph =
      parse_graph(fmt::format("table: f32[5,8] = constant(name=\"table\")\n"
                              "w: f32[16,8] = constant(name=\"w\")\n"
                              "ids: i64[1,{0}] = input()\n"
                              "h: f32[1,{0},16] = linear(gather(table, ids, axis=0), w)\n"
                              "q: f32[1,2,{0},8] = transpose(reshape(h, shape=[1,{0},2,8]), permutation=[0,2,1,3])\n"
                              "s: f32[1,2,{0},{0}] = softmax(matmul(q, transpose(q, permutation=[0,1,3,2])))\n"
                              "return y=matmul(s, q)",
                              tokens),
                  zeros);
  require(graph.has_value(), "the seed's graph parses");
  auto built = build_plan(*graph, {.rungs = {"reduce", "attention", "fusion"}, .capture = true, .tuned_kernels = true});
  require(built && check_plan(built->plan), "the seed is a sound plan");
  return std::move(built->plan);
}

// The plans with code for their first launch, which needs none.
std::string with_code(std::vector<rung::Plan> plans) {
  using namespace rung;
  auto set = PlanSet::make(std::move(plans));
  require(set.has_value(), "the seed is a set of plans");
  CodeSection section;
  for (const auto& plan : *set) section.named.emplace_back(plan->steps.size());
  section.named[0][0] = source_name("source");
  section.code.push_back(std::make_shared<const gpu::GeneratedCode>(
      gpu::GeneratedCode{"name", "gfx942", "compiler", "source", "generated", gpu::image_of(std::string(64, '\0'))}));
  auto json = set_to_json(*set);
  add_code(section, json);
  return json.dump();
}

// Reads the bytes as the length of a packed source, the source, and a packed image of one kernel; each says the size to
// which it unpacks.
void read_packed(std::string_view bytes) {
  using namespace rung;
  if (bytes.empty()) return;
  const auto length = static_cast<unsigned char>(bytes[0]);
  const std::string_view source = bytes.substr(1, length), image = bytes.substr(1 + source.size());
  std::string texts[2];
  (void)inflate_all(source, kMaxCodeSourceBytes, texts[0]);
  (void)inflate_all(image, kMaxCodeSourceBytes, texts[1]);
  using nlohmann::json;
  json set;
  set["code"]["images"] = json::array({json{{"target", "t"},
                                            {"compiler", "c"},
                                            {"hash", hex64(hash_text(texts[1]))},
                                            {"bytes", texts[1].size()},
                                            {"data", encode_base64(image)}}});
  set["code"]["kernels"] = json::array({json{
      {"name", "n"}, {"entry", "e"}, {"image", 0}, {"bytes", texts[0].size()}, {"source", encode_base64(source)}}});
  set["plans"][0]["steps"][0]["code"] = source_name(texts[0]);
  const auto section = code_from_json(set);
  if (section) require(section->code[0]->image->bytes == texts[1], "what was packed is unpacked");
}

std::string file_of(const std::string& plan) {
  std::ostringstream out;
  (void)rung::write_safetensors(out, {}, {{"format", "rung plan 5"}, {"checksum", "0"}, {"plan", plan}});
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string empty = json_of({rung::Plan{}});
  rung::write_seeds(*argc, *argv,
                    {empty, json_of({sound_plan(4)}), json_of({sound_plan(4), sound_plan(6)}), file_of(empty),
                     with_code({sound_plan(4)}), with_code({sound_plan(4), sound_plan(6)}),
                     "C\x0e" + rung::deflated("source") + rung::deflated(std::string(64, '\0'))});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('C')) return read_packed(text.substr(1)), 0;
  if (text.starts_with('{')) {
    auto json = parse_json(text, "fuzz");
    if (!json) return 0;
    auto listed = set_from_json(*json);
    if (!listed) return 0;
    auto code = code_from_json(*json);
    for (size_t i = 0; i < listed->plans.size(); ++i)
      if (check_plan(listed->plans[i]) && code)
        (void)take_code(*code, code->named[i], CodeUse::trusted, listed->plans[i]);
    if (auto set = PlanSet::make(std::move(listed->plans))) {
      (void)set->serving(input_shapes(set->first()));
      auto again = set_to_json(*set);
      if (code) add_code(*code, again);
      require(set_from_json(again).has_value(), "what was read is written as it is read");
      require(!code || code_from_json(again).has_value(), "code that was read is written as it is read");
    }
    return 0;
  }
  static const int file = memfd_create("plan", 0);
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size), "a file to load");
  (void)load_plans("/proc/self/fd/" + std::to_string(file), [](const std::string&) { return &cpu_target(); });
  return 0;
}
