// The public interface over plans and sessions: no type, error or exception of the library's own crosses it.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "api/text_inputs.hpp"
#include "base/guarded.hpp"
#include "ladder/rungs.hpp"
#include "open/open_model.hpp"
#include "plan/named.hpp"
#include "rung/rung.hpp"

namespace rung::api {

struct Model::Opened {
  Session session;
  std::vector<Port> inputs, outputs;
};

namespace {

constexpr std::pair<DType, rung::DType> kTypes[] = {
    {DType::f32, rung::DType::f32}, {DType::f16, rung::DType::f16},         {DType::bf16, rung::DType::bf16},
    {DType::i64, rung::DType::i64}, {DType::i32, rung::DType::i32},         {DType::i8, rung::DType::i8},
    {DType::u8, rung::DType::u8},   {DType::boolean, rung::DType::boolean},
};

DType to_public(rung::DType dtype) {
  for (auto [outside, inside] : kTypes)
    if (inside == dtype) return outside;
  return DType::u8;  // f8 values, as bytes
}

Result<rung::DType> to_internal(DType dtype) {
  for (auto [outside, inside] : kTypes)
    if (outside == dtype) return inside;
  return fail("got dtype {}, wanted one of the {} of the interface", static_cast<int>(dtype), std::size(kTypes));
}

std::vector<int64_t> to_public(const Shape& shape) { return {shape.begin(), shape.end()}; }

Result<Shape> to_internal(const std::vector<int64_t>& dims) {
  if (dims.size() > Dims::kMaxRank) return fail("got {} dimensions, wanted at most {}", dims.size(), Dims::kMaxRank);
  for (int64_t dim : dims)
    if (dim < 0) return fail("got a dimension of {}", dim);
  return Shape(std::span(dims));
}

Tensor to_public(const rung::Tensor& tensor) {
  return {to_public(tensor.dtype()), to_public(tensor.shape()), {tensor.data(), tensor.data() + tensor.bytes()}};
}

// The type is checked against the plan's before memory is taken for it.
Result<rung::Tensor> to_internal(const std::string& name, const Tensor& tensor, const Plan& plan) {
  const auto* port = find_named(plan.inputs, name);
  const auto* frozen = find_named(plan.frozen, name);
  if (!port && !frozen) return fail("the model has no input '{}'", name);
  const Type& wanted = port ? port->type : frozen->value.type();
  RUNG_TRY(rung::DType dtype, to_internal(tensor.dtype));
  RUNG_TRY(Shape shape, to_internal(tensor.shape));
  if (Type type{dtype, shape}; !(type == wanted)) return fail("input '{}': got {}, wanted {}", name, type, wanted);
  if (tensor.bytes.size() != wanted.bytes())
    return fail("input '{}': got {} bytes, wanted {} for {}", name, tensor.bytes.size(), wanted.bytes(), wanted);
  rung::Tensor copy(wanted);
  std::copy(tensor.bytes.begin(), tensor.bytes.end(), copy.data());
  return copy;
}

// A directory's plan is that of the default recipe, on the device asked for.
Result<std::shared_ptr<const Plan>> plan_at(const std::string& path, const Options& options) {
  OpenOptions open{.device = options.device, .threads = options.threads};
  for (const auto& [name, dims] : options.shapes) {
    RUNG_TRY(open.import.shapes[name], to_internal(dims));
  }
  RUNG_TRY(OpenedModel opened, open_model(path, open));
  if (opened.plan) return opened.plan;
  return build_subject(*opened.subject, default_recipe(threads_for(*opened.target, options.threads)), *opened.target);
}

// Runs `body`; its error, or an exception out of a library (no memory), becomes the Status. The last words are short
// enough to need no memory.
template <class Body>
Status guarded(Body body) noexcept {
  try {
    try {
      rung::Status status = body();
      return status ? Status() : Status(std::move(status.error().message));
    } catch (...) {
      return Status(error_of_exception().message);
    }
  } catch (...) {
    return Status("out of memory");
  }
}

const std::vector<Port> kNoPorts;

}  // namespace

Model::Model() = default;
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Status Model::open(const std::string& path, const Options& options) {
  return guarded([&]() -> rung::Status {
    RUNG_TRY(auto plan, plan_at(path, options));
    RUNG_TRY(Session session, open_session(plan));
    auto opened = std::make_unique<Opened>(Opened{std::move(session), {}, {}});
    for (const auto& input : plan->inputs)
      opened->inputs.push_back(
          {input.name, to_public(input.type.dtype), to_public(input.type.shape), !input.value.has_value()});
    for (const auto& output : plan->outputs)
      opened->outputs.push_back({output.name, to_public(output.type.dtype), to_public(output.type.shape), false});
    opened_ = std::move(opened);
    return {};
  });
}

const std::vector<Port>& Model::inputs() const { return opened_ ? opened_->inputs : kNoPorts; }
const std::vector<Port>& Model::outputs() const { return opened_ ? opened_->outputs : kNoPorts; }

Status Model::encode(std::string_view text, Tensors& inputs) const {
  return guarded([&]() -> rung::Status {
    if (!opened_) return fail("no model is open");
    RUNG_TRY(NamedTensors encoded, inputs_of_text(opened_->session.plan(), text));
    Tensors made;
    for (const auto& [name, tensor] : encoded) made.emplace(name, to_public(tensor));
    inputs = std::move(made);
    return {};
  });
}

Status Model::run(const Tensors& inputs, Tensors& outputs) {
  return guarded([&]() -> rung::Status {
    if (!opened_) return fail("no model is open");
    NamedTensors given;
    for (const auto& [name, tensor] : inputs) {
      RUNG_TRY(given[name], to_internal(name, tensor, opened_->session.plan()));
    }
    RUNG_TRY(auto results, opened_->session.infer(given));
    Tensors made;
    for (const auto& [name, tensor] : results) made.emplace(name, to_public(tensor));
    outputs = std::move(made);
    return {};
  });
}

}  // namespace rung::api
