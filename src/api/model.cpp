// Models of the C interface: opening, describing, encoding.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/handles.hpp"
#include "api/options.hpp"
#include "api/tensors.hpp"
#include "api/text_inputs.hpp"
#include "kernels/device_word.hpp"
#include "plan/named.hpp"
#include "session/gpu_weights.hpp"

namespace rung {
namespace {

template <class PlanPort>
rung_port port_of(const PlanPort& port, bool required) {
  return {.name = port.name.c_str(),
          .dtype = to_public(port.type.dtype),
          .ndim = port.type.shape.rank(),
          .shape = port.type.shape.begin(),
          .bytes = port.type.bytes(),
          .required = required};
}

rung_device device_of(const Plan& plan) {
  // What an emulator's devices hold is this processor's memory, and host memory is what it copies from.
  if (!plan.target->gpu || plan.target->machine.gpu.counts_instructions) return {RUNG_CPU, 0};
  const rung_device_type type = plan.target->kind == "hip" ? RUNG_ROCM : RUNG_CUDA;
  return {type, parse_device(plan.target->name)->index};
}

rung_status tell_port(const rung_model* model, std::vector<rung_port> OpenModel::*ports, size_t index,
                      rung_port* port) {
  return answer([&]() -> Status {
    RUNG_CHECK(want(model, "model"));
    RUNG_CHECK(want(port, "port"));
    const auto& all = (*model->open).*ports;
    if (index >= all.size()) return wrong_usage("got index {}, wanted less than {}", index, all.size());
    *port = all[index];
    return {};
  });
}

rung_status find_port(const rung_model* model, std::vector<rung_port> OpenModel::*ports, const char* side,
                      const char* name, size_t* index) {
  return answer([&]() -> Status {
    RUNG_CHECK(want(model, "model"));
    RUNG_CHECK(want(name, "name"));
    RUNG_CHECK(want(index, "index"));
    const auto& all = (*model->open).*ports;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const rung_port& port) { return std::string_view(port.name) == name; });
    if (found == all.end()) {
      std::vector<std::string_view> names;
      for (const rung_port& port : all) names.emplace_back(port.name);
      return rung::mismatch("there is no {0} '{1}'; the {0}s are: {2}", side, name, fmt::join(names, ", "));
    }
    *index = static_cast<size_t>(found - all.begin());
    return {};
  });
}

}  // namespace

Result<std::shared_ptr<const OpenModel>> open_model_of(std::shared_ptr<const Plan> plan) {
  auto open = std::make_shared<OpenModel>();
  open->device = device_of(*plan);
  if (plan->target->gpu) {
    RUNG_TRY(open->weights, upload_weights(*plan, 0));
  }
  for (const auto& input : plan->inputs) open->inputs.push_back(port_of(input, !input.value));
  for (const auto& output : plan->outputs) open->outputs.push_back(port_of(output, false));
  open->plan = std::move(plan);
  return open;
}

}  // namespace rung

using rung::answer;
using rung::Status;

rung_status rung_model_open(const char* path, const rung_options* options, rung_model** model) {
  return answer([&]() -> Status {
    RUNG_CHECK(rung::want(path, "path"));
    RUNG_CHECK(rung::want(model, "model"));
    RUNG_TRY(auto plan, rung::plan_at(path, options));
    RUNG_TRY(auto open, rung::open_model_of(std::move(plan)));
    *model = new rung_model{std::move(open)};
    return {};
  });
}

void rung_model_close(rung_model* model) { delete model; }

size_t rung_model_input_count(const rung_model* model) { return model ? model->open->inputs.size() : 0; }
size_t rung_model_output_count(const rung_model* model) { return model ? model->open->outputs.size() : 0; }

rung_status rung_model_input(const rung_model* model, size_t index, rung_port* port) {
  return rung::tell_port(model, &rung::OpenModel::inputs, index, port);
}

rung_status rung_model_output(const rung_model* model, size_t index, rung_port* port) {
  return rung::tell_port(model, &rung::OpenModel::outputs, index, port);
}

rung_status rung_model_find_input(const rung_model* model, const char* name, size_t* index) {
  return rung::find_port(model, &rung::OpenModel::inputs, "input", name, index);
}

rung_status rung_model_find_output(const rung_model* model, const char* name, size_t* index) {
  return rung::find_port(model, &rung::OpenModel::outputs, "output", name, index);
}

rung_device rung_model_device(const rung_model* model) { return model ? model->open->device : rung_device{0, 0}; }

rung_status rung_model_encode(const rung_model* model, const char* text, rung_tensors** inputs) {
  return answer([&]() -> Status {
    RUNG_CHECK(rung::want(model, "model"));
    RUNG_CHECK(rung::want(text, "text"));
    RUNG_CHECK(rung::want(inputs, "inputs"));
    RUNG_TRY(rung::NamedTensors encoded, rung::inputs_of_text(*model->open->plan, text));
    auto made = std::make_unique<rung_tensors>();
    for (auto& [name, tensor] : encoded) made->all.emplace_back(name, std::move(tensor));
    *inputs = made.release();
    return {};
  });
}

bool rung_model_is_frozen(const rung_model* model, const char* name) {
  return model && name && rung::find_named(model->open->plan->frozen, name);
}

rung_status rung_model_check_frozen(const rung_model* model, const char* name, const rung_tensor* tensor) {
  return answer([&]() -> Status {
    RUNG_CHECK(rung::want(model, "model"));
    RUNG_CHECK(rung::want(name, "name"));
    RUNG_CHECK(rung::want(tensor, "tensor"));
    const auto* frozen = rung::find_named(model->open->plan->frozen, name);
    if (!frozen) return rung::mismatch("there is no frozen input '{}'", name);
    const rung_named_tensor given{name, tensor};
    RUNG_TRY(rung::NamedTensors copy, rung::copies_of({&given, 1}));
    return rung::check_frozen_input(*frozen, copy.begin()->second);
  });
}
