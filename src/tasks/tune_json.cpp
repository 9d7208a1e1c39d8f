// Writes one object per product of the list.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/tune_json.hpp"

#include <nlohmann/json.hpp>

#include "kernels/choice_json.hpp"
#include "report/json.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

Json shape_to_json(const stacks::GemmShape& shape) {
  Json json{{"m", shape.m},
            {"n", shape.n},
            {"k", shape.k},
            {"batch", shape.batch},
            {"x", name_of(shape.x)},
            {"w", name_of(shape.w)},
            {"out", name_of(shape.out)},
            {"layout", name_of(shape.layout)},
            {"count", shape.count},
            {"product", text_of(shape)}};
  if (shape.bias) json["bias"] = name_of(*shape.bias);
  return json;
}

Json product_to_json(const stacks::TunedProduct& product) {
  Json json = shape_to_json(product.shape);
  json.update({{"default_us", product.default_us},
               {"best_us", product.best_us},
               {"ratio", product.ratio.ratio},
               {"ci95", {product.ratio.lo, product.ratio.hi}},
               {"pairs", product.ratio.pairs},
               {"faster", product.faster},
               {"reason", product.reason}});
  if (!product.choice.kernel.empty()) json["chosen"] = to_json(product.choice);
  if (!product.solution.empty()) json["solution"] = product.solution;
  return json;
}

}  // namespace

Json to_json(const stacks::TunedProducts& tuned) {
  Json products = Json::array(), remarks = Json::array();
  for (const stacks::TunedProduct& product : tuned.products) products.push_back(product_to_json(product));
  for (const auto& [what, count] : tuned.remarks) remarks.push_back({{"what", what}, {"count", count}});
  Json json{{"device", tuned.device},
            {"source", tuned.source},
            {"products", std::move(products)},
            {"remarks", std::move(remarks)},
            {"interrupted", tuned.interrupted},
            {"tuning_s", tuned.tuning_s},
            {"disturbance", rung::to_json(tuned.disturbance)}};
  if (!tuned.out.empty()) json.update({{"out", tuned.out}, {"format", tuned.format}, {"written", tuned.written}});
  return json;
}

}  // namespace rung::tasks
