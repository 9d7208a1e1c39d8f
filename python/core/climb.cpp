// Climbs, with a callback of Python's that sees how far they are, and may end them.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <deque>
#include <exception>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "core/hearing.hpp"
#include "core/model.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

nb::object receipt_of(const rung_receipt& r) {
  return nb::module_::import_("rung._types")
      .attr("Receipt")(nb::arg("name") = r.name, nb::arg("accepted") = r.accepted, nb::arg("reason") = r.reason,
                       nb::arg("before_ms") = r.before_ms, nb::arg("ms") = r.ms, nb::arg("ratio") = r.ratio,
                       nb::arg("ci_low") = r.ci_low, nb::arg("ci_high") = r.ci_high, nb::arg("rel_l2") = r.rel_l2,
                       nb::arg("max_abs") = r.max_abs, nb::arg("kernels") = r.kernels, nb::arg("attempt") = r.attempt);
}

nb::object speedup_of(const rung_speedup& s) {
  return nb::module_::import_("rung._types")
      .attr("Speedup")(nb::arg("claimed") = s.claimed, nb::arg("before_ms") = s.before_ms,
                       nb::arg("after_ms") = s.after_ms, nb::arg("ratio") = s.ratio, nb::arg("ci_low") = s.ci_low,
                       nb::arg("ci_high") = s.ci_high, nb::arg("pairs") = s.pairs, nb::arg("unraced") = s.unraced);
}

// What the library's callback gets: Python's callable, and what it raised.
struct Listener {
  nb::object callable;
  std::exception_ptr raised;
};

bool tell(void* context, const rung_progress* progress) {
  auto& listener = *static_cast<Listener*>(context);
  return heard(listener.raised, [&] {
    if (!listener.callable.is_none())
      listener.callable(progress->what, progress->fraction,
                        progress->receipt ? receipt_of(*progress->receipt) : nb::none());
  });
}

class Climb {
 public:
  explicit Climb(rung_climb* climb) : climb_(climb, rung_climb_free) {}

  nb::list receipts() const {
    nb::list list;
    rung_receipt receipt;
    for (size_t i = 0; i < rung_climb_receipt_count(climb_.get()); ++i) {
      check(rung_climb_receipt(climb_.get(), i, &receipt));
      list.append(receipt_of(receipt));
    }
    return list;
  }
  nb::object speedup(int against) const {
    rung_speedup found;
    check(rung_climb_speedup(climb_.get(), static_cast<rung_against>(against), &found));
    return speedup_of(found);
  }
  std::string text(int kind) const {
    const char* text = rung_climb_text(climb_.get(), static_cast<rung_climb_text_kind>(kind));
    if (!text) raise(RUNG_USAGE, "a climb has no text of kind " + std::to_string(kind));
    return text;
  }
  std::unique_ptr<Model> open() const {
    rung_model* opened = nullptr;
    rung_status status = RUNG_OK;
    {
      const ReleasedGil released;
      status = rung_climb_open(climb_.get(), &opened);
    }
    check(status);
    return std::make_unique<Model>(ModelHandle(opened, rung_model_close));
  }
  void save(nb::handle where) const {
    const std::string directory = path_of(where, "directory");
    rung_status status = RUNG_OK;
    {
      const ReleasedGil released;
      status = rung_climb_save(climb_.get(), directory.c_str());
    }
    check(status);
  }

 private:
  std::shared_ptr<rung_climb> climb_;
};

// Sets of inputs, borrowed as long as this lives.
class InputSets {
 public:
  explicit InputSets(nb::handle sequence) {
    for (nb::handle set : sequence) {
      const NamedArrays& arrays = arrays_.emplace_back(set);
      sets_.push_back({arrays.data(), arrays.size()});
    }
  }
  const rung_input_set* data() const { return sets_.data(); }
  size_t size() const { return sets_.size(); }

 private:
  std::deque<NamedArrays> arrays_;
  std::vector<rung_input_set> sets_;
};

// `options`: OpenOptions', budget_s, inputs, further_inputs, error, cosine, kl, freeze, skip, database.
std::unique_ptr<Climb> climb(nb::handle where, const nb::dict& options, nb::object progress) {
  const std::string path = path_of(where, "path");
  OpenOptions open(options);
  NamedArrays inputs(options["inputs"]);
  const InputSets further(options["further_inputs"]);
  const auto limit = [&](const char* name) { return nb::cast<std::optional<double>>(options[name]); };
  const std::optional<double> error = limit("error"), cosine = limit("cosine"), kl = limit("kl");
  Words freeze(options["freeze"]), skip(options["skip"]);
  const OptionalPath database(options["database"], "database");
  Listener listener{std::move(progress), nullptr};
  rung_climb_options climbing = RUNG_CLIMB_OPTIONS_INIT;
  climbing.model = open.get();
  climbing.budget_s = nb::cast<double>(options["budget_s"]);
  climbing.inputs = inputs.data();
  climbing.input_count = inputs.size();
  climbing.further_inputs = further.data();
  climbing.further_count = further.size();
  climbing.error = error ? &*error : nullptr;
  climbing.cosine = cosine ? &*cosine : nullptr;
  climbing.kl = kl ? &*kl : nullptr;
  climbing.freeze = freeze.data();
  climbing.freeze_count = freeze.size();
  climbing.skip = skip.data();
  climbing.skip_count = skip.size();
  climbing.database = database.c_str();
  climbing.progress = tell;
  climbing.context = &listener;
  rung_climb* climbed = nullptr;
  rung_status status = RUNG_OK;
  {
    const ReleasedGil released;
    status = rung_climb_model(path.c_str(), &climbing, &climbed);
  }
  std::unique_ptr<Climb> result;
  if (climbed) result = std::make_unique<Climb>(climbed);
  if (listener.raised) std::rethrow_exception(listener.raised);
  check(status);
  return result;
}

}  // namespace

void bind_climbs(nb::module_& module) {
  nb::class_<Climb>(module, "Climb", "What a climb found; rung.Climb is over it.")
      .def("receipts", &Climb::receipts, nb::sig("def receipts(self) -> list[rung._types.Receipt]"))
      .def("speedup", &Climb::speedup, nb::arg("against"),
           nb::sig("def speedup(self, against: int) -> rung._types.Speedup"))
      .def("text", &Climb::text, nb::arg("kind"))
      .def("open", &Climb::open)
      .def("save", &Climb::save, nb::arg("directory"),
           nb::sig("def save(self, directory: str | bytes | os.PathLike[str]) -> None"));
  module.def("climb", &climb, nb::arg("path").none(), nb::arg("options"), nb::arg("progress").none(),
             nb::sig("def climb(path: str | bytes | os.PathLike[str], options: dict[str, typing.Any], progress: "
                     "typing.Callable[[str, float, rung._types.Receipt | None], object] | None) -> Climb"),
             "Climbs a model directory.");
  module.attr("CLIMB_REPORT") = int(RUNG_CLIMB_REPORT);
  module.attr("AGAINST_BASELINE") = int(RUNG_AGAINST_BASELINE);
  module.attr("AGAINST_NO_CLIMB") = int(RUNG_AGAINST_NO_CLIMB);
  module.attr("CLIMB_RECIPE") = int(RUNG_CLIMB_RECIPE);
  module.attr("CLIMB_HTML") = int(RUNG_CLIMB_HTML);
  module.attr("CLIMB_MARKDOWN") = int(RUNG_CLIMB_MARKDOWN);
  module.attr("CLIMB_TRACE") = int(RUNG_CLIMB_TRACE);
}

}  // namespace rung::python
