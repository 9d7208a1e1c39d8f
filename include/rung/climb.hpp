// Climbing from code: a model directory becomes a verified, faster plan, with its receipts and reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/model.hpp>

#include <exception>
#include <functional>
#include <optional>

namespace rung::api {

// The record of one rung of a climb; the fields are documented in rung_receipt.
struct Receipt {
  std::string name, reason;
  bool accepted = false;
  double before_ms = 0, ms = 0, ratio = 1, ci_low = 1, ci_high = 1, rel_l2 = 0, max_abs = 0;
  int kernels = 0, attempt = 1;

  // Converts a receipt of the C interface.
  static Receipt of(const rung_receipt& c) {
    return {c.name,   c.reason,  c.accepted, c.before_ms, c.ms,      c.ratio,
            c.ci_low, c.ci_high, c.rel_l2,   c.max_abs,   c.kernels, c.attempt};
  }
};

// The result of a race of two plans; the fields are documented in rung_speedup.
struct Speedup {
  double claimed = 1, before_ms = 0, after_ms = 0, ratio = 1, ci_low = 1, ci_high = 1;
  int pairs = 0;
  std::string unraced;
};

// Options of a climb; the fields are documented in rung_climb_options.
struct ClimbOptions {
  Options model = {};
  double budget_s = 60;
  Tensors inputs = {};
  std::vector<std::string> freeze = {}, skip = {};
  std::optional<std::string> database = {};  // none: the user's own; empty: no database
  std::vector<Tensors> further_inputs = {};
  std::optional<double> error = {}, cosine = {}, kl = {};  // none: not stated
};

// A callback that is told a climb's progress, from 0 to 1, and the receipt of a rung that was just decided, or null.
// Returning false ends the climb. An exception ends it too, and leaves climb().
using Progress = std::function<bool(std::string_view what, double fraction, const Receipt* decided)>;

// The result of a climb: a plan, receipts and reports.
class Climb {
 public:
  // Takes the handle.
  explicit Climb(rung_climb* climb) : handle_(climb) {}
  // The receipts of all rungs, in the order of the climb.
  std::vector<Receipt> receipts() const {
    std::vector<Receipt> all;
    for (size_t i = 0; i < rung_climb_receipt_count(handle_.get()); ++i) {
      rung_receipt receipt{};
      if (rung_climb_receipt(handle_.get(), i, &receipt) == RUNG_OK) all.push_back(Receipt::of(receipt));
    }
    return all;
  }
  // Return the races of the plan that won against the model as its author wrote it, and against the default plan.
  Speedup against_baseline() const { return speedup(RUNG_AGAINST_BASELINE); }
  Speedup against_no_climb() const { return speedup(RUNG_AGAINST_NO_CLIMB); }
  // Returns a text that lives as long as the climb, empty if there is no such kind.
  std::string_view text(rung_climb_text_kind kind) const {
    const char* text = rung_climb_text(handle_.get(), kind);
    return text ? text : "";
  }
  // The report is JSON, as `rung climb --json` prints it; `rung build --recipe` makes the same plan of the recipe.
  std::string_view report() const { return text(RUNG_CLIMB_REPORT); }
  std::string_view recipe() const { return text(RUNG_CLIMB_RECIPE); }
  // Opens the plan that won, ready to run.
  Result<Model> model() const {
    rung_model* model = nullptr;
    if (auto code = rung_climb_open(handle_.get(), &model)) return Status::of(code);
    return Model(model);
  }
  // Writes plan, recipe, reports and trace to a folder: all or none.
  Status save(const std::string& directory) const {
    if (Status status = detail::check_nul("directory", directory); !status) return status;
    return Status::of(rung_climb_save(handle_.get(), directory.c_str()));
  }
  // Returns the handle for the C interface; this object still owns it.
  rung_climb* handle() const { return handle_.get(); }

 private:
  Speedup speedup(rung_against against) const {
    rung_speedup c{};
    if (rung_climb_speedup(handle_.get(), against, &c) != RUNG_OK) return {};
    return {c.claimed, c.before_ms, c.after_ms, c.ratio, c.ci_low, c.ci_high, c.pairs, c.unraced};
  }
  std::unique_ptr<rung_climb, detail::Closer<&rung_climb_free>> handle_;
};

namespace detail {

// A progress callback that C can call: it keeps an exception until the climb has ended.
struct Caller {
  const Progress& progress;
  std::exception_ptr thrown;
  static bool call(void* context, const rung_progress* at) {
    auto* self = static_cast<Caller*>(context);
    try {
      if (!at->receipt) return self->progress(at->what, at->fraction, nullptr);
      const Receipt receipt = Receipt::of(*at->receipt);
      return self->progress(at->what, at->fraction, &receipt);
    } catch (...) {
      self->thrown = std::current_exception();
      return false;
    }
  }
};

}  // namespace detail

// Climbs a model directory. See rung_climb_model().
inline Result<Climb> climb(const std::string& path, const ClimbOptions& options = {}, const Progress& progress = {}) {
  if (Status status = detail::check_nuls(path, options.model); !status) return status;
  if (Status status = detail::check_bytes(options.inputs); !status) return status;
  for (const Tensors& set : options.further_inputs)
    if (Status status = detail::check_bytes(set); !status) return status;
  if (Status status = detail::check_nuls("freeze", options.freeze); !status) return status;
  if (Status status = detail::check_nuls("skip", options.skip); !status) return status;
  if (Status status = detail::check_nul("database", options.database.value_or("")); !status) return status;
  const detail::COptions model(options.model);
  const detail::CTensors inputs(options.inputs);
  const std::vector<detail::CTensors> further(options.further_inputs.begin(), options.further_inputs.end());
  std::vector<rung_input_set> sets;
  for (const detail::CTensors& set : further) sets.push_back({set.named.data(), set.named.size()});
  const auto freeze = detail::c_strings(options.freeze), skip = detail::c_strings(options.skip);
  detail::Caller caller{progress, nullptr};
  rung_climb_options c RUNG_CLIMB_OPTIONS_INIT;
  c.model = &model.options;
  c.budget_s = options.budget_s;
  c.inputs = inputs.named.data(), c.input_count = inputs.named.size();
  c.freeze = freeze.data(), c.freeze_count = freeze.size();
  c.skip = skip.data(), c.skip_count = skip.size();
  if (options.database) c.database = options.database->c_str();
  c.further_inputs = sets.data(), c.further_count = sets.size();
  if (options.error) c.error = &*options.error;
  if (options.cosine) c.cosine = &*options.cosine;
  if (options.kl) c.kl = &*options.kl;
  if (progress) c.progress = &detail::Caller::call, c.context = &caller;
  rung_climb* climb = nullptr;
  const rung_status code = rung_climb_model(path.c_str(), &c, &climb);
  if (caller.thrown) std::rethrow_exception(caller.thrown);
  if (code) return Status::of(code);
  return Climb(climb);
}

}  // namespace rung::api
