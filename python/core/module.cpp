// The extension rung._core: the C interface of rung as Python classes and functions.
// SPDX-License-Identifier: Apache-2.0
#include "core/action_tokenizer.hpp"
#include "core/errors.hpp"
#include "core/language_model.hpp"
#include "core/last_calls.hpp"
#include "core/model.hpp"

NB_MODULE(_core, m) {
  // Python frees what a program still holds at its end in no order; nanobind would tell of each such object.
  nanobind::set_leak_warnings(false);
  (void)rung::python::LastCalls::get();
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function([] {
    PyThreadState* state = PyEval_SaveThread();
    rung::python::LastCalls::get().end();
    PyEval_RestoreThread(state);
  }));
  m.doc() = "The C interface of rung as Python classes and functions; the package rung is what programs use.";
  m.def("version", &rung_version, "The release: \"0.1.0\".");
  rung::python::bind_models(m);
  rung::python::bind_language_models(m);
  rung::python::bind_action_tokenizer(m);
  rung::python::bind_climbs(m);
  rung::python::bind_tasks(m);
}
