// Reads and writes dimensions, types and operands.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/operand_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json.hpp"
#include "base/whole.hpp"

namespace rung {

using Json = nlohmann::json;

Json dims_to_json(const Dims& dims) { return std::vector<int64_t>(dims.begin(), dims.end()); }

Json operand_to_json(const Operand& o) {
  return Json::array({name_of(o.dtype), dims_to_json(o.shape), dims_to_json(o.strides), o.constant});
}

Dims dims_from_json(const Json& json) {
  const auto values = list_of_whole<int64_t>(json);
  if (values.size() > Dims::kMaxRank) throw std::out_of_range(fmt::format("got {} dimensions", values.size()));
  return Dims(std::span<const int64_t>(values));
}

DType dtype_from_json(const Json& json) {
  auto dtype = dtype_named(json.get<std::string>());
  if (!dtype) throw std::out_of_range("unknown dtype " + dump_json(json));
  return *dtype;
}

Operand operand_from_json(const Json& json, size_t first) {
  return {dtype_from_json(json.at(first)), dims_from_json(json.at(first + 1)), dims_from_json(json.at(first + 2)),
          json.at(first + 3).get<bool>()};
}

}  // namespace rung
