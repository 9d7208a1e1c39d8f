// Opens models, and has a model's tokenizer make inputs of a text.
// SPDX-License-Identifier: Apache-2.0
#include "core/model.hpp"

#include "core/errors.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

std::string ports_text(const std::vector<PortFacts>& ports) {
  std::string text;
  for (const PortFacts& port : ports) {
    text += (text.empty() ? "" : ", ") + text_of(port.name) + ": " + port.type->name;
    text += text_of(nb::list(port.shape));
  }
  return text;
}

}  // namespace

Session& Model::session() {
  if (session_.closed()) raise(RUNG_USAGE, "the model is closed");
  return session_;
}

std::unique_ptr<Session> Model::open_session() {
  session();
  return std::make_unique<Session>(model_, facts_);
}

nb::dict Model::encode(const std::string& text) {
  session();
  rung_tensors* encoded = nullptr;
  rung_status status = RUNG_OK;
  {
    nb::gil_scoped_release released;
    status = rung_model_encode(model_.get(), text.c_str(), &encoded);
  }
  check(status);
  std::shared_ptr<rung_tensors> tensors(encoded, rung_tensors_free);
  nb::dict inputs;
  for (size_t i = 0; i < rung_tensors_count(encoded); ++i)
    inputs[rung_tensors_name(encoded, i)] = array_over(rung_tensors_get(encoded, i), own(tensors));
  return inputs;
}

void Model::close() {
  session_.close();
  model_.reset();
}

std::string Model::repr() const {
  return "<rung.Model on " + facts_->device_word() + ": (" + ports_text(facts_->inputs) + ") -> (" +
         ports_text(facts_->outputs) + ")" + (session_.closed() ? ", closed" : "") + ">";
}

std::unique_ptr<Model> load(const std::string& path, const nb::dict& options) {
  OpenOptions open(options);
  rung_model* opened = nullptr;
  rung_status status = RUNG_OK;
  {
    nb::gil_scoped_release released;
    status = rung_model_open(path.c_str(), open.get(), &opened);
  }
  check(status);
  return std::make_unique<Model>(ModelHandle(opened, rung_model_close));
}

}  // namespace rung::python
