// Reads and writes precision as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "plan/precision_json.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "base/json.hpp"
#include "ir/shape.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

// THE lists of types that parts may compute in, and of those that their products may.
constexpr DType kComputed[] = {DType::f32, DType::bf16};
// The types of weights alone; u8 is that of numbers of 4 bits.
constexpr DType kWeights[] = {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::i8, DType::u8};
// The types of caches; f32: what their readers read.
constexpr DType kCaches[] = {DType::f32, DType::f8e4m3fn, DType::f8e4m3fnuz};
constexpr DType kProducts[] = {DType::f32, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::i8};

struct Aspect {
  const char* field;
  std::optional<DType> PartPrecision::*dtype;
  std::span<const DType> types;
};
constexpr Aspect kAspects[] = {{"products", &PartPrecision::products, kProducts},
                               {"attention", &PartPrecision::attention, kComputed},
                               {"values", &PartPrecision::values, kComputed},
                               {"cache", &PartPrecision::cache, kCaches}};

// THE list of numbers that parts in 8 bits have besides.
struct NumberAspect {
  const char* field;
  std::optional<double> PartPrecision::*number;
  double least, most;
};
constexpr NumberAspect kNumbers[] = {{"smooth", &PartPrecision::smooth, 0, 1},
                                     {"percentile", &PartPrecision::percentile, 50, 100}};

constexpr int64_t kMostOutliers = 64;  // more take longer than rows of 16 bits would

Result<DType> read_dtype(const Json& json, std::span<const DType> types) {
  std::string wanted;
  for (const DType dtype : types) {
    if (json.is_string() && json.get_ref<const std::string&>() == name_of(dtype)) return dtype;
    wanted += fmt::format("{}{}", wanted.empty() ? "" : dtype == types.back() ? " or " : ", ", dtype);
  }
  return fail("got {}, wanted {}", describe(json), wanted);
}

// Groups are read by rows of weights in runs of as many numbers (kernels/cpu/linear/grouped.hpp).
constexpr int64_t kGroupGrain = 32, kMostGroup = 4096;

Result<WeightForm> read_weights(const Json& json, const Json* group) {
  WeightForm form;
  std::string wanted;
  bool is_known = false;
  for (const DType dtype : kWeights) {
    const std::string_view word = name_of(WeightForm{.to = dtype});
    wanted += fmt::format("{}{}", wanted.empty() ? "" : dtype == DType::u8 ? " or " : ", ", word);
    if (json.is_string() && json.get_ref<const std::string&>() == word) form.to = dtype, is_known = true;
  }
  if (!is_known) return fail("field 'weights': got {}, wanted {}", describe(json), wanted);
  if (!group && form.to == DType::u8) return fail("got weights of i4 without a field 'group', wanted one, such as 32");
  if (!group) return form;
  if (is_f8(form.to)) return fail("got 'group' beside weights of {}, wanted i8 or i4", form.to);
  const bool is_whole = group->is_number_integer() && *group >= kGroupGrain && *group <= kMostGroup;
  if (!is_whole || group->get<int64_t>() % kGroupGrain)
    return fail("field 'group': got {}, wanted a multiple of {} up to {}", describe(*group), kGroupGrain, kMostGroup);
  form.group = group->get<int64_t>();
  return form;
}

Status read_field(const std::string& field, const Json& json, PartPrecision& part) {
  if (field == "labels") {
    if (!json.is_string() || json.get_ref<const std::string&>().empty())
      return fail("field 'labels': got {}, wanted the beginning of a label, or \"*\" for all", dump_json(json));
    part.labels = json.get<std::string>();
    return {};
  }
  for (const Aspect& aspect : kAspects) {
    if (field != aspect.field) continue;
    auto dtype = read_dtype(json, aspect.types);
    if (!dtype) return fail_in(dtype.error(), "field '{}'", field);
    part.*aspect.dtype = *dtype;
    return {};
  }
  for (const NumberAspect& aspect : kNumbers) {
    if (field != aspect.field) continue;
    const double number = json.is_number() ? json.get<double>() : NAN;
    if (!(number >= aspect.least && number <= aspect.most))
      return fail("field '{}': got {}, wanted a number from {} to {}", field, dump_json(json), aspect.least,
                  aspect.most);
    part.*aspect.number = number;
    return {};
  }
  if (field == "outliers") {
    if (!json.is_number_integer() || json < 0 || json > kMostOutliers)
      return fail("field 'outliers': got {}, wanted a whole number from 0 to {}", dump_json(json), kMostOutliers);
    part.outliers = json.get<int64_t>();
    return {};
  }
  if (field != "rotate") return fail("unknown field '{}'", field);
  if (!json.is_boolean()) return fail("field 'rotate': got {}, wanted true or false", dump_json(json));
  part.rotate = json.get<bool>();
  return {};
}

Result<PartPrecision> read_part(const Json& json) {
  if (!json.is_object()) return fail("got {}, wanted an object", describe(json));
  if (!json.contains("labels")) return fail("got no field 'labels'");
  if (json.size() < 2)
    return fail(
        "got 'labels' alone, wanted 'products', 'weights', 'attention', 'values', 'cache', 'smooth', 'rotate', "
        "'percentile' or 'outliers' too");
  PartPrecision part;
  const Json* group = json.contains("group") ? &json.at("group") : nullptr;
  if (json.contains("weights")) {
    RUNG_TRY(part.weights, read_weights(json.at("weights"), group));
  } else if (group) {
    return fail("got a field 'group' without 'weights', wanted both or neither");
  }
  for (const auto& [field, value] : json.items())
    if (field != "weights" && field != "group") RUNG_CHECK(read_field(field, value, part));
  return part;
}

}  // namespace

Json to_json(const PartPrecision& part) {
  Json json{{"labels", part.labels}};
  for (const Aspect& aspect : kAspects)
    if (const auto& dtype = part.*aspect.dtype) json[aspect.field] = name_of(*dtype);
  for (const NumberAspect& aspect : kNumbers)
    if (const auto& number = part.*aspect.number) json[aspect.field] = *number;
  if (part.rotate) json["rotate"] = *part.rotate;
  if (part.outliers) json["outliers"] = *part.outliers;
  if (part.weights) json["weights"] = name_of(*part.weights);
  if (part.weights && part.weights->group > 0) json["group"] = part.weights->group;
  return json;
}

Json to_json(const Precision& precision) {
  if (!is_quantised(narrowest(precision)) && precision == everywhere(narrowest(precision)))
    return name_of(narrowest(precision));
  Json parts = Json::array();
  for (const PartPrecision& part : precision) parts.push_back(to_json(part));
  return parts;
}

Result<Precision> precision_from_json(const Json& json) {
  if (!json.is_array()) {
    auto dtype = read_dtype(json, kComputed);
    if (!dtype) return fail("{}, or a list of parts", dtype.error().message);
    return everywhere(*dtype);
  }
  Precision precision;
  for (const Json& entry : json) {
    auto part = read_part(entry);
    if (!part) return fail_in(part.error(), "entry {}", precision.size());
    precision.push_back(std::move(*part));
  }
  return precision;
}

}  // namespace rung
