// Options of callers, checked.
// SPDX-License-Identifier: Apache-2.0
#include "api/options.hpp"

#include <string_view>

#include "api/answer.hpp"
#include "ladder/rungs.hpp"

namespace rung {
namespace {

Result<Shape> shape_of(const rung_named_shape& given) {
  if (!given.name) return wrong_usage("shapes: got NULL for a name");
  if (given.ndim < 0 || given.ndim > Dims::kMaxRank)
    return wrong_usage("shape of '{}': got {} dimensions, wanted at most {}", given.name, given.ndim, Dims::kMaxRank);
  if (given.ndim > 0 && !given.shape) return wrong_usage("shape of '{}': got NULL", given.name);
  const Shape shape(std::span(given.shape, static_cast<size_t>(given.ndim)));
  for (int64_t extent : shape)
    if (extent < 1) return wrong_usage("shape of '{}': got {}, wanted positive extents", given.name, shape);
  return shape;
}

// bf16 is a rung on top of the f32 model.
struct AskedFor {
  std::optional<DType> import;
  DType precision = DType::f32;
};

Result<AskedFor> dtype_asked_for(const char* word) {
  const std::string_view dtype = word ? word : "model";
  if (dtype == "model") return AskedFor{};
  if (dtype == "f32") return AskedFor{DType::f32, DType::f32};
  if (dtype == "bf16") return AskedFor{DType::f32, DType::bf16};
  return wrong_usage("dtype: got '{}', wanted model, f32 or bf16", dtype);
}

}  // namespace

Result<rung_options> checked(const rung_options* options) {
  return options_of(options, rung_options RUNG_OPTIONS_INIT, "rung_options");
}

Result<OpenOptions> open_options(const rung_options& options) {
  OpenOptions open{.device = options.device ? options.device : "", .threads = options.threads};
  if (options.shape_count > 0) RUNG_CHECK(want(options.shapes, "shapes"));
  for (const rung_named_shape& given : std::span(options.shapes, options.shape_count)) {
    RUNG_TRY(Shape shape, shape_of(given));
    if (!open.import.shapes.emplace(given.name, shape).second)
      return wrong_usage("shapes: '{}' is given twice", given.name);
  }
  RUNG_TRY(AskedFor dtype, dtype_asked_for(options.dtype));
  open.import.dtype = dtype.import;
  return open;
}

Result<std::shared_ptr<const Plan>> plan_at(const char* path, const rung_options* options) {
  RUNG_TRY(rung_options given, checked(options));
  RUNG_TRY(OpenOptions open, open_options(given));
  RUNG_TRY(AskedFor dtype, dtype_asked_for(given.dtype));
  if (is_plan_file(path) && dtype.import)
    return wrong_usage("'{}' is a plan: its dtype was decided when it was built", path);
  RUNG_TRY(OpenedModel opened, open_model(path, open));
  if (opened.plan) return opened.plan;
  return build_subject(*opened.subject, default_recipe(threads_for(*opened.target, given.threads), dtype.precision),
                       *opened.target);
}

}  // namespace rung
