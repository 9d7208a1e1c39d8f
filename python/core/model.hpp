// A model with the session that its own calls run in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "core/session.hpp"

namespace rung::python {

class Model {
 public:
  explicit Model(ModelHandle handle)
      : model_(std::move(handle)), plans_(read_plans(model_.get())), session_(model_, plans_) {}

  const ModelFacts& facts() const { return *plans_.front(); }
  // The shapes that each plan serves: a tuple of dicts, by input.
  nb::tuple shapes() const;
  // Errors: UsageError, the model is closed.
  Session& session();
  std::unique_ptr<Session> open_session();
  // `truncate`: "warn", "cut" or "error".
  nb::object encode(nb::handle text, const std::string& truncate, nb::handle second);
  std::string decode(nb::handle ids, bool skips_special, nb::handle cleans_up);
  void save(nb::handle path);
  void close();
  std::string repr() const;
  // Keeps the model open. Errors: UsageError, it is closed.
  ModelHandle handle();

 private:
  ModelHandle model_;
  std::vector<std::shared_ptr<const ModelFacts>> plans_;
  Session session_;
};

// rung.join().
std::unique_ptr<Model> join(const nb::list& models);
// rung.load(): `options` as OpenOptions takes them.
std::unique_ptr<Model> load(nb::handle path, const nb::dict& options);
// rung.build(): OpenOptions', recipe, inputs, freeze, retune, budget_s, database.
std::unique_ptr<Model> build(nb::handle path, const nb::dict& options);

void bind_models(nb::module_& module);
void bind_climbs(nb::module_& module);
void bind_tasks(nb::module_& module);

}  // namespace rung::python
