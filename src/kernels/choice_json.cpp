// Reads and writes the two fields of a choice.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/choice_json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

// The JSON library converts numbers silently, such as 1.5 to 1; here a number must be whole, and fit.
bool is_int64(const Json& json) {
  return json.is_number_unsigned() ? std::in_range<int64_t>(json.get<uint64_t>()) : json.is_number_integer();
}

Result<Params> params_from_json(const Json& json) {
  if (!json.is_object()) return fail("field 'params': got {}, wanted an object of whole numbers", describe(json));
  Params params;
  for (const auto& [name, value] : json.items()) {
    if (!is_int64(value)) return fail("field 'params': got {} for '{}', wanted a whole number", describe(value), name);
    params[name] = value.get<int64_t>();
  }
  return params;
}

}  // namespace

Json to_short_json(const KernelChoice& choice) {
  Json json{{"kernel", choice.kernel}};
  for (const auto& [name, value] : choice.params) json["params"][name] = value;
  return json;
}

Json to_json(const KernelChoice& choice) {
  Json json = to_short_json(choice);
  json.emplace("params", Json::object());
  return json;
}

Result<KernelChoice> choice_from_json(const Json& json) {
  if (!json.is_object()) return fail("got {}, wanted an object with 'kernel'", describe(json));
  const auto kernel = json.find("kernel"), params = json.find("params");
  if (kernel == json.end()) return fail("got an object without 'kernel', wanted the name of one");
  if (!kernel->is_string()) return fail("field 'kernel': got {}, wanted a kernel's name", describe(*kernel));
  KernelChoice choice{kernel->get<std::string>(), {}};
  if (params != json.end()) {
    RUNG_TRY(choice.params, params_from_json(*params));
  }
  return choice;
}

}  // namespace rung
