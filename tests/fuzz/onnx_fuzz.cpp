// Any bytes as an ONNX file: refused, or the graph that is made of them is sound.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include "import/importers.hpp"
#include "ir/verify.hpp"
#include "seeds.hpp"
#include "support/onnx_file.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace rung::onnx_file;
  const Messages x{value("x", kFloat, {fixed(2)})}, y{value("y", kFloat, {})}, w{floats("w", {1, 2})};
  const Graph minus{{node({"Neg", {"x"}, {"z"}})}, {}, {}, {value("z", kFloat, {})}};
  const Graph shifted{{node({"Add", {"x", "w"}, {"z"}})}, w, {}, {value("z", kFloat, {})}};
  const std::string choice = node({"If", {"c"}, {"y"}, {branch("then_branch", minus), branch("else_branch", shifted)}});
  const std::string constant = node({"Constant", {}, {"c"}, {reference("value_float", kFloatKind, "by")}});
  const Function shift{"Shift", {constant, node({"Add", {"x", "c"}, {"y"}})}, {number("by", 5)}};
  const std::string turned = node({"Transpose", {"x"}, {"y"}, {integers("perm", {0})}});
  const std::string sizes = tensor("s", kInt64, {2}, raw<int64_t>({2, -1}));
  rung::write_seeds(
      *argc, *argv,
      {model({{node({"Add", {"x", "w"}, {"y"}})}, w, x, y}), model({{choice}, {truth("c", 1)}, x, y}),
       model({{node({"Shift", {"x"}, {"y"}, {}, "local"})}, {}, x, y}, {shift}), model({{turned}, {}, x, y}),
       model({{node({"Reshape", {"x", "s"}, {"y"}})}, {sizes}, x, y}),
       model({{node({"Add", {"x", "w"}, {"y"}})}, {external("w", {{"location", "w.bin"}, {"offset", "4"}})}, x, y}),
       model({{node({"Neg", {"x"}, {"y"}})}, {}, {value("x", kFloat, {open("n")})}, y})});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  static const int file = memfd_create("model", 0);
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size), "a file to read");
  auto model = onnx::import_file("/proc/self/fd/" + std::to_string(file), {.shapes = {{"n", Shape{3}}}});
  if (model) require(verify(model->graph).has_value(), "the graph is sound");
  return 0;
}
