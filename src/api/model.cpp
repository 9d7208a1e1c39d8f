// Models of the C interface: opening, describing, encoding.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/handles.hpp"
#include "api/options.hpp"
#include "api/tensors.hpp"
#include "api/text_inputs.hpp"
#include "plan/file.hpp"
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
  // An emulated device's memory is this processor's, and its copies are from and to host memory.
  if (!plan.target->gpu || plan.target->machine.gpu.counts_instructions) return {RUNG_CPU, 0};
  const rung_device_type type = plan.target->kind == "hip" ? RUNG_ROCM : RUNG_CUDA;
  return {type, plan.target->index};
}

rung_status tell_port(const rung_model* model, std::vector<rung_port> OpenModel::*ports, size_t index,
                      rung_port* port) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(want_open(open, "model"));
    RUNG_CHECK(want(port, "port"));
    const auto& all = (**open).*ports;
    if (index >= all.size()) return wrong_usage("got index {}, wanted less than {}", index, all.size());
    *port = all[index];
    return {};
  });
}

rung_status find_port(const rung_model* model, std::vector<rung_port> OpenModel::*ports, const char* side,
                      const char* name, size_t* index) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(want_open(open, "model"));
    RUNG_CHECK(want(name, "name"));
    RUNG_CHECK(want(index, "index"));
    const auto& all = (**open).*ports;
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

Result<std::shared_ptr<const OpenModel>> open_model_of(PlanSet plans) {
  auto open = std::make_shared<OpenModel>(std::move(plans));
  const Plan& first = open->plans.first();
  open->device = device_of(first);
  if (first.target->gpu)
    for (const auto& plan : open->plans) {
      RUNG_TRY(auto blocks, upload_weights(*plan, 0));
      open->weights.insert(open->weights.end(), blocks.begin(), blocks.end());
    }
  for (const auto& input : first.inputs) open->inputs.push_back(port_of(input, !input.value));
  for (const auto& output : first.outputs) open->outputs.push_back(port_of(output, false));
  open->texts = std::make_unique<TextEncoder>(open->plans);
  return open;
}

size_t count_ports(const rung_model* model, std::vector<rung_port> OpenModel::*ports) {
  const auto open = table<Models>().use(model);
  return open ? ((**open).*ports).size() : 0;
}

std::string_view text_view(const char* text, size_t bytes) {
  return bytes == SIZE_MAX ? std::string_view(text) : std::string_view(text, bytes);
}

Result<TextOptions> text_options(const char* text, const rung_text_options* options) {
  RUNG_CHECK(want(text, "text"));
  RUNG_TRY(auto given, options_of(options, rung_text_options RUNG_TEXT_OPTIONS_INIT, "rung_text_options"));
  if (given.truncate != RUNG_TRUNCATE_CUT && given.truncate != RUNG_TRUNCATE_ERROR)
    return wrong_usage("truncate: got {}, wanted {} (cut) or {} (error)", static_cast<int>(given.truncate),
                       static_cast<int>(RUNG_TRUNCATE_CUT), static_cast<int>(RUNG_TRUNCATE_ERROR));
  TextOptions made{.text = text_view(text, given.bytes), .may_cut = given.truncate == RUNG_TRUNCATE_CUT};
  if (given.second) made.second = text_view(given.second, given.second_bytes);
  return made;
}

}  // namespace

Result<rung_model*> handle_of(PlanSet plans) {
  RUNG_TRY(auto open, open_model_of(std::move(plans)));
  return table<Models>().open(std::make_unique<const std::shared_ptr<const OpenModel>>(std::move(open)));
}

}  // namespace rung

using rung::answer;
using rung::Models;
using rung::OpenModel;
using rung::Status;
using rung::table;

rung_status rung_model_open(const char* path, const rung_options* options, rung_model** model) {
  return answer([&]() -> Status {
    RUNG_CHECK(rung::want(path, "path"));
    RUNG_CHECK(rung::want(model, "model"));
    RUNG_TRY(auto plans, rung::plans_at(path, options));
    RUNG_TRY(*model, rung::handle_of(std::move(plans)));
    return {};
  });
}

rung_status rung_model_build(const char* path, const rung_build_options* options, rung_model** model) {
  return answer([&]() -> Status {
    RUNG_CHECK(rung::want(path, "path"));
    RUNG_CHECK(rung::want(model, "model"));
    RUNG_TRY(auto plan, rung::built_plan(path, options));
    RUNG_TRY(*model, rung::handle_of(rung::PlanSet(std::move(plan))));
    return {};
  });
}

rung_status rung_model_save(const rung_model* model, const char* path) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_CHECK(rung::want(path, "path"));
    return rung::save_plans((*open)->plans, path);
  });
}

size_t rung_model_plan_count(const rung_model* model) {
  const auto open = table<Models>().use(model);
  return open ? (*open)->plans.size() : 0;
}

rung_status rung_model_plan(const rung_model* model, size_t index, rung_model** plan) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_CHECK(rung::want(plan, "plan"));
    const rung::PlanSet& plans = (*open)->plans;
    if (index >= plans.size()) return rung::wrong_usage("got plan {}, wanted less than {}", index, plans.size());
    RUNG_TRY(*plan, rung::handle_of(rung::PlanSet(plans[index])));
    return {};
  });
}

rung_status rung_model_join(const rung_model* const* models, size_t count, rung_model** joined) {
  return answer([&]() -> Status {
    RUNG_TRY(auto given, rung::array_of(models, count, "models"));
    RUNG_CHECK(rung::want(joined, "joined"));
    if (given.empty()) return rung::wrong_usage("got no model, wanted at least one");
    std::vector<rung::Plan> all;
    for (const rung_model* model : given) {
      const auto open = table<Models>().use(model);
      RUNG_CHECK(rung::want_open(open, "model"));
      for (const auto& plan : (*open)->plans) all.push_back(*plan);
    }
    RUNG_TRY(rung::PlanSet plans, rung::PlanSet::make(std::move(all)));
    RUNG_TRY(*joined, rung::handle_of(std::move(plans)));
    return {};
  });
}

void rung_model_close(rung_model* model) { table<Models>().close(model); }

size_t rung_model_input_count(const rung_model* model) { return rung::count_ports(model, &OpenModel::inputs); }
size_t rung_model_output_count(const rung_model* model) { return rung::count_ports(model, &OpenModel::outputs); }

rung_status rung_model_input(const rung_model* model, size_t index, rung_port* port) {
  return rung::tell_port(model, &OpenModel::inputs, index, port);
}

rung_status rung_model_output(const rung_model* model, size_t index, rung_port* port) {
  return rung::tell_port(model, &OpenModel::outputs, index, port);
}

rung_status rung_model_find_input(const rung_model* model, const char* name, size_t* index) {
  return rung::find_port(model, &OpenModel::inputs, "input", name, index);
}

rung_status rung_model_find_output(const rung_model* model, const char* name, size_t* index) {
  return rung::find_port(model, &OpenModel::outputs, "output", name, index);
}

rung_device rung_model_device(const rung_model* model) {
  const auto open = table<Models>().use(model);
  return open ? (*open)->device : rung_device{0, 0};
}

rung_status rung_model_encode(const rung_model* model, const char* text, rung_tensors** inputs) {
  return rung_model_encode_text(model, text, nullptr, inputs);
}

rung_status rung_model_encode_text(const rung_model* model, const char* text, const rung_text_options* options,
                                   rung_tensors** inputs) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_CHECK(rung::want(inputs, "inputs"));
    RUNG_TRY(auto given, rung::text_options(text, options));
    RUNG_TRY(rung::TextInputs encoded, (*open)->texts->inputs_of(given));
    auto made = std::make_unique<rung::OpenTensors>();
    for (auto& [name, tensor] : encoded.inputs) made->all.emplace_back(name, std::move(tensor));
    made->tokens = encoded.tokens, made->kept = encoded.kept;
    *inputs = table<rung::TensorSets>().open(std::move(made));
    return {};
  });
}

rung_status rung_model_decode(const rung_model* model, const int64_t* ids, size_t count,
                              const rung_decode_options* options, rung_text* text) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    if (count > 0) RUNG_CHECK(rung::want(ids, "ids"));
    RUNG_CHECK(rung::check_place(text));
    RUNG_TRY(const auto given, rung::decode_options(options));
    RUNG_TRY(const std::string decoded, (*open)->texts->text_of({ids, count}, given));
    rung::write_text(decoded, *text);
    return {};
  });
}

bool rung_model_is_frozen(const rung_model* model, const char* name) {
  const auto open = table<Models>().use(model);
  return open && name && rung::find_named((*open)->plans.first().frozen, name);
}

rung_status rung_model_check_frozen(const rung_model* model, const char* name, const rung_tensor* tensor) {
  return answer([&]() -> Status {
    const auto open = table<Models>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_CHECK(rung::want(name, "name"));
    RUNG_CHECK(rung::want(tensor, "tensor"));
    const auto* frozen = rung::find_named((*open)->plans.first().frozen, name);
    if (!frozen) return rung::mismatch("there is no frozen input '{}'", name);
    const rung_named_tensor given{name, tensor};
    RUNG_TRY(rung::NamedTensors copy, rung::copies_of({&given, 1}));
    return rung::check_frozen_input(*frozen, copy.begin()->second);
  });
}
