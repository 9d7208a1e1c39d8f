// Opens models, and has a model's tokenizer make inputs of a text.
// SPDX-License-Identifier: Apache-2.0
#include "core/model.hpp"

#include "core/decoded.hpp"
#include "core/errors.hpp"
#include "core/gil.hpp"
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

std::string one_text(nb::handle text) {
  if (nb::isinstance<nb::bytes>(text)) raise(RUNG_USAGE, "text: got bytes, wanted a str: text.decode()");
  if (nb::isinstance<nb::list>(text) || nb::isinstance<nb::tuple>(text))
    raise(RUNG_USAGE, "text: got a " + text_of(nb::type_name(text.type())) +
                          ", wanted one str: a plan answers one text at a time: [model(**model.encode(text)) for text "
                          "in texts]");
  return utf8_of(text, "text");
}

rung_truncate truncation(const std::string& word) {
  if (word == "warn" || word == "cut") return RUNG_TRUNCATE_CUT;
  if (word == "error") return RUNG_TRUNCATE_ERROR;
  raise(RUNG_USAGE, "truncate: got '" + word + "', wanted 'warn', 'cut' or 'error'");
}

void warn_of_cut(int64_t tokens, int64_t kept) {
  nb::object kind = nb::module_::import_("rung._errors").attr("TruncationWarning");
  const std::string words = "the text has " + std::to_string(tokens) + " tokens, and the model reads " +
                            std::to_string(kept) + " of them: load it with shapes={'input_ids': (1, " +
                            std::to_string(tokens) + ")}, or say truncate='cut' or truncate='error'";
  if (PyErr_WarnEx(kind.ptr(), words.c_str(), 1) != 0) throw nb::python_error();
}

}  // namespace

Session& Model::session() {
  if (session_.closed()) raise(RUNG_USAGE, "the model is closed");
  return session_;
}

std::unique_ptr<Session> Model::open_session() {
  session();
  return std::make_unique<Session>(model_, plans_);
}

nb::object Model::encode(nb::handle text, const std::string& truncate, nb::handle second) {
  session();
  const std::string utf8 = one_text(text);
  const std::string second_utf8 = second.is_none() ? std::string() : utf8_of(second, "second");
  rung_text_options options = RUNG_TEXT_OPTIONS_INIT;
  options.bytes = utf8.size();
  options.truncate = truncation(truncate);
  if (!second.is_none()) options.second = second_utf8.c_str();
  options.second_bytes = second_utf8.size();
  rung_tensors* encoded = nullptr;
  check(without_gil([&] { return rung_model_encode_text(model_.get(), utf8.c_str(), &options, &encoded); }));
  std::shared_ptr<rung_tensors> tensors(encoded, rung_tensors_free);
  const int64_t tokens = rung_tensors_text_tokens(encoded), kept = rung_tensors_text_kept(encoded);
  if (kept < tokens && truncate == "warn") warn_of_cut(tokens, kept);
  nb::object inputs = nb::module_::import_("rung._types").attr("Encoded")(tokens, kept);
  for (size_t i = 0; i < rung_tensors_count(encoded); ++i)
    inputs[rung_tensors_name(encoded, i)] = array_over(rung_tensors_get(encoded, i), own(tensors));
  return inputs;
}

std::string Model::decode(nb::handle ids, bool skips_special, nb::handle cleans_up) {
  const ModelHandle open = handle();
  return decoded(ids, skips_special, cleans_up, [&](const auto& numbers, const auto& options, rung_text& place) {
    return rung_model_decode(open.get(), numbers.data(), numbers.size(), &options, &place);
  });
}

ModelHandle Model::handle() {
  session();
  return model_;
}

void Model::save(nb::handle where) {
  const ModelHandle open = handle();
  const std::string path = path_of(where, "path");
  check(without_gil([&] { return rung_model_save(open.get(), path.c_str()); }));
}

nb::tuple Model::shapes() const {
  nb::list all;
  for (const auto& plan : plans_) {
    nb::dict shapes;
    for (const PortFacts& port : plan->inputs) shapes[port.name] = port.shape;
    all.append(shapes);
  }
  return nb::tuple(all);
}

void Model::close() {
  session_.close();
  model_.reset();
}

std::string Model::repr() const {
  return "<rung.Model on " + facts().device_word() + ": (" + ports_text(facts().inputs) + ") -> (" +
         ports_text(facts().outputs) + ")" + (session_.closed() ? ", closed" : "") + ">";
}

std::unique_ptr<Model> join(const nb::list& models) {
  std::vector<ModelHandle> open;  // a model that another thread closes meanwhile stays open here
  std::vector<const rung_model*> given;
  for (nb::handle model : models) {
    if (!nb::isinstance<Model>(model))
      raise(RUNG_USAGE, "models: got a " + text_of(nb::type_name(model.type())) + ", wanted models that are open");
    open.push_back(nb::cast<Model&>(model).handle());
    given.push_back(open.back().get());
  }
  rung_model* joined = nullptr;
  check(without_gil([&] { return rung_model_join(given.data(), given.size(), &joined); }));
  return std::make_unique<Model>(ModelHandle(joined, rung_model_close));
}

std::unique_ptr<Model> load(nb::handle where, const nb::dict& options) {
  const std::string path = path_of(where, "path");
  OpenOptions open(options);
  rung_model* opened = nullptr;
  check(without_gil([&] { return rung_model_open(path.c_str(), open.get(), &opened); }));
  return std::make_unique<Model>(ModelHandle(opened, rung_model_close));
}

std::unique_ptr<Model> build(nb::handle where, const nb::dict& options) {
  const std::string path = path_of(where, "path");
  OpenOptions open(options);
  NamedArrays inputs(options["inputs"]);
  Words freeze(options["freeze"]);
  const OptionalPath database(options["database"], "database");
  const bool has_recipe = !nb::object(options["recipe"]).is_none();
  const std::string recipe = has_recipe ? c_text_of(options["recipe"], "recipe") : "";
  rung_build_options with = RUNG_BUILD_OPTIONS_INIT;
  with.model = open.get();
  with.recipe = has_recipe ? recipe.c_str() : nullptr;
  with.inputs = inputs.data();
  with.input_count = inputs.size();
  with.freeze = freeze.data();
  with.freeze_count = freeze.size();
  with.retune = nb::cast<bool>(options["retune"]);
  with.budget_s = nb::cast<double>(options["budget_s"]);
  with.database = database.c_str();
  rung_model* built = nullptr;
  check(without_gil([&] { return rung_model_build(path.c_str(), &with, &built); }));
  return std::make_unique<Model>(ModelHandle(built, rung_model_close));
}

}  // namespace rung::python
