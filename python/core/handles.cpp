// Reads a model's inputs and outputs once: calls look nothing up by its name in the library.
// SPDX-License-Identifier: Apache-2.0
#include "core/handles.hpp"

#include <algorithm>

#include "core/errors.hpp"

namespace rung::python {
namespace {

PortFacts read_port(const rung_port& port) {
  PortFacts facts{.port = port, .type = &named_type(port.dtype)};
  facts.name = nb::steal(PyUnicode_InternFromString(port.name));
  facts.extents = std::make_unique<int64_t[]>(static_cast<size_t>(port.ndim));
  std::copy_n(port.shape, port.ndim, facts.extents.get());
  facts.port.name = PyUnicode_AsUTF8(facts.name.ptr());
  facts.port.shape = facts.extents.get();
  nb::list extents;
  for (int32_t i = 0; i < port.ndim; ++i) extents.append(port.shape[i]);
  facts.shape = nb::tuple(extents);
  facts.public_port =
      nb::module_::import_("rung._types").attr("Port")(facts.name, facts.type->name, facts.shape, port.required);
  return facts;
}

nb::object read_only_map(const std::vector<PortFacts>& ports) {
  nb::dict map;
  for (const PortFacts& facts : ports) map[facts.name] = facts.public_port;
  return nb::module_::import_("types").attr("MappingProxyType")(map);
}

}  // namespace

std::string ModelFacts::device_word() const {
  if (!on_gpu()) return "cpu";
  return (device.type == RUNG_CUDA ? "cuda:" : "hip:") + std::to_string(device.index);
}

std::shared_ptr<const ModelFacts> read_facts(const rung_model* model) {
  auto facts = std::make_shared<ModelFacts>();
  rung_port port;
  for (size_t i = 0; i < rung_model_input_count(model); ++i) {
    check(rung_model_input(model, i, &port));
    facts->inputs.push_back(read_port(port));
  }
  for (size_t i = 0; i < rung_model_output_count(model); ++i) {
    check(rung_model_output(model, i, &port));
    facts->outputs.push_back(read_port(port));
  }
  facts->device = rung_model_device(model);
  facts->input_map = read_only_map(facts->inputs);
  facts->output_map = read_only_map(facts->outputs);
  return facts;
}

std::vector<std::shared_ptr<const ModelFacts>> read_plans(const rung_model* model) {
  std::vector<std::shared_ptr<const ModelFacts>> plans;
  for (size_t i = 0; i < rung_model_plan_count(model); ++i) {
    rung_model* plan = nullptr;
    check(rung_model_plan(model, i, &plan));
    const ModelHandle open(plan, rung_model_close);
    plans.push_back(read_facts(plan));
  }
  return plans;
}

}  // namespace rung::python
