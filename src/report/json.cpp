// Writes a climb's result as JSON and reads it: a writer and a reader walk one list of fields per struct.
// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"
#include "device/gpu/counted_figures.hpp"
#include "device/gpu/gpu_info.hpp"
#include "kernels/choice_json.hpp"
#include "kernels/device_word.hpp"
#include "report/ladder_rows.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

// ---- the fields

template <class T, class Struct>
concept Like = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto& v, Like<Receipt> auto& r) {
  v("name", r.name), v("accepted", r.accepted), v("reason", r.reason), v("before_ms", r.before_ms), v("ms", r.ms);
  v("ratio", r.ratio), v("ci95", r.ci95), v("pairs", r.pairs), v("kernels", r.kernels), v("rel_l2", r.rel_l2);
  v("max_abs", r.max_abs);
  v("attempt", r.attempt), v("notes", r.notes);
}
void fields(auto& v, Like<AblationRow> auto& r) { v("name", r.name), v("ratio", r.ratio), v("ci95", r.ci95); }
void fields(auto& v, Like<OpTime> auto& r) {
  v("label", r.label), v("op", r.op), v("kernel", r.kernel), v("problem", r.problem), v("category", r.category);
  v("stage", r.stage);
  v("us", r.us), v("floor_us", r.floor_us), v("flops", r.flops), v("bytes", r.bytes);
}
void fields(auto& v, Like<StageTime> auto& r) {
  v("name", r.name), v("launches", r.launches), v("us", r.us), v("floor_us", r.floor_us);
}
void fields(auto& v, Like<Candidate> auto& r) { v(r.choice), v("us", r.us), v("verdict", r.verdict); }
void fields(auto& v, Like<Choice> auto& r) {
  v("problem", r.problem), v("count", r.count), v("chosen", r.chosen), v("reason", r.reason);
  v("candidates", r.candidates);
}
void fields(auto& v, Like<Latency> auto& r) {
  v("median_ms", r.median_ms), v("min_ms", r.min_ms), v("p90_ms", r.p90_ms), v("p99_ms", r.p99_ms);
  v("ci95", r.ci95), v("runs", r.runs);
}
void fields(auto& v, Like<DeviceLoad> auto& r) {
  v("seconds", r.seconds), v("runs", r.runs), v("samples", r.samples), v("sm_mhz", r.sm_mhz);
  v("sm_mhz_least", r.sm_mhz_least), v("memory_mhz", r.memory_mhz), v("celsius", r.celsius), v("power_w", r.power_w);
  v("power_limit_w", r.power_limit_w), v("energy_mj", r.energy_mj), v("counted", r.counted);
  v("throttled", r.throttled), v("unknown", r.unknown);
}
void fields(auto& v, Like<LoadedRuns> auto& r) { v("rate_hz", r.rate_hz), v("latency", r.latency), v("load", r.load); }
void fields(auto& v, Like<Peaks> auto& r) {
  v("fma_f32_gflops", r.fma_f32_gflops), v("gemm_f32_gflops", r.gemm_f32_gflops),
      v("gemm_bf16_gflops", r.gemm_bf16_gflops), v("read_gbps", r.read_gbps);
  v("handoff_us", r.handoff_us), v("barrier_us", r.barrier_us);
}
void fields(auto& v, Like<Speedup> auto& r) {
  v("before_ms", r.before_ms), v("after_ms", r.after_ms), v("ratio", r.ratio), v("ci95", r.ci95), v("pairs", r.pairs);
  v("unraced", r.unraced);
}
void fields(auto& v, Like<CheaperPrecision> auto& r) {
  v("dtype", r.dtype), v("speedup", r.speedup), v("rel_l2", r.rel_l2), v("max_abs", r.max_abs);
  v("cosine", r.cosine), v("command", r.command);
}
void fields(auto& v, Like<FormReport> auto& r) { v("name", r.name), v("us", r.us), v("rel_l2", r.rel_l2); }
void fields(auto& v, Like<PartReport> auto& r) {
  v("name", r.name), v("kind", r.kind), v("chosen", r.chosen), v("forms", r.forms);
}
void fields(auto& v, Like<WholeReport> auto& r) {
  v("name", r.name), v("recipe", r.recipe), v("predicted_us", r.predicted_us);
  v("predicted_rel_l2", r.predicted_rel_l2), v("speedup", r.speedup), v("rel_l2", r.rel_l2), v("cosine", r.cosine);
  v("kl", r.kl), v("meets_goal", r.meets_goal), v("best", r.best), v("chosen", r.chosen);
}
void fields(auto& v, Like<PredictedReport> auto& r) { v("us", r.us), v("rel_l2", r.rel_l2); }
void fields(auto& v, Like<PrecisionReport> auto& r) {
  v("limit_rel_l2", r.limit_rel_l2), v("limit_cosine", r.limit_cosine), v("limit_kl", r.limit_kl);
  v("start_rel_l2", r.start_rel_l2), v("start_us", r.start_us), v("factor", r.factor);
  v("parts", r.parts), v("wholes", r.wholes), v("predicted", r.predicted), v("watched", r.watched);
  v("notes", r.notes);
}
void fields(auto& v, Like<Disturbance> auto& r) {
  v("seconds", r.seconds), v("others", r.others), v("stolen", r.stolen), v("throttled", r.throttled);
  v("preemptions", r.preemptions), v("megahertz_before", r.megahertz_before), v("megahertz_after", r.megahertz_after);
}
void fields(auto& v, Like<ClimbResult> auto& r) {
  v("model", r.model), v("device", r.device), v("dtype", r.dtype), v("architecture", r.architecture);
  v("shapes", r.shapes), v("text_before", r.text_before), v("takes_text", r.takes_text), v("precision", r.precision),
      v("threads", r.threads), v("baseline_ms", r.baseline_ms), v("final_ms", r.final_ms);
  v("floor_ms", r.floor_ms), v("tuning_s", r.tuning_s), v("total_s", r.total_s), v("budget_s", r.budget_s);
  v("against_baseline", r.against_baseline), v("against_no_climb", r.against_no_climb), v("cheaper", r.cheaper);
  v("trials_s", r.trials_s), v("untried", r.untried), v("budget_note", r.budget_note), v("host_us", r.host_us);
  v("kernels_before", r.kernels_before), v("kernels_after", r.kernels_after), v("baseline", r.baseline);
  v("final_latency", r.final_latency), v("cold", r.cold), v("loads", r.loads), v("rungs", r.rungs),
      v("ablation", r.ablation);
  v("ops", r.ops), v("stages", r.stages), v("baseline_categories_us", r.baseline_categories_us),
      v("choices", r.choices), v("peaks", r.peaks);
  v("weights_mb", r.weights_mb), v("arena_mb", r.arena_mb), v("peak_rss_mb", r.peak_rss_mb);
  v("disturbance", r.disturbance), v("environment", r.environment), v("verified", r.verified), v("rel_l2", r.rel_l2),
      v("max_abs", r.max_abs);
  v("cosine", r.cosine), v("verify_reason", r.verify_reason);
  constexpr bool reads = !std::is_const_v<std::remove_reference_t<decltype(r)>>;
  if (reads || r.piecewise) v("piecewise", r.piecewise);
  if (reads || r.precision_search.is_stated()) v("precision_search", r.precision_search);
}

// ---- writing

struct Writer {
  Json out = Json::object();
  template <class T>
  void operator()(const char* name, const T& value) {
    out[name] = write(value);
  }
  void operator()(const KernelChoice& choice) { out.update(to_json(choice)); }

  static Json write(double x) { return std::isfinite(x) ? Json(x) : Json(); }
  static Json write(const Interval& i) { return Json::array({write(i.lo), write(i.hi)}); }
  static Json write(Category c) { return name_of(c); }
  template <class T>
  static Json write(const std::vector<T>& list) {
    Json out = Json::array();
    for (const T& item : list) out.push_back(write(item));
    return out;
  }
  template <class T>
  static Json write(const std::map<std::string, T>& map) {
    Json out = Json::object();
    for (const auto& [key, value] : map) out[key] = write(value);
    return out;
  }
  template <class T>
  static Json write(const T& value) {
    if constexpr (requires(Writer w) { fields(w, value); }) {
      Writer writer;
      fields(writer, value);
      return writer.out;
    } else {
      return value;
    }
  }
};

// ---- reading; the first error stays

struct Reader {
  const Json* in;
  std::string path;
  std::string* error;

  template <class T>
  void operator()(const char* name, T& value) {
    const std::string prefix = path.empty() ? "" : path + ".";
    if (auto it = in->find(name); it != in->end()) {
      read(*it, value, prefix + name);
      if constexpr (std::same_as<T, Interval>)
        if (in->contains("median_instructions")) divide(value, gpu::kInstructionsPerMs);
    } else if (const auto counted = gpu::counted_key(name); counted && in->contains(counted->name)) {
      read(in->at(counted->name), value, prefix + counted->name);
      divide(value, counted->per_unit);
    }
  }
  void operator()(KernelChoice& choice) {
    auto read = choice_from_json(*in);
    if (read)
      choice = std::move(*read);
    else if (error->empty())
      *error = fmt::format("{}: {}", path, read.error().message);
  }

  // Converts counts of instructions, which stand in the fields of time.
  static void divide(auto&, double) {}
  static void divide(double& value, double by) { value /= by; }
  static void divide(Interval& value, double by) { value.lo /= by, value.hi /= by; }
  static void divide(std::map<std::string, double>& values, double by) {
    for (auto& [key, value] : values) value /= by;
  }

  bool expect(bool good, const Json& json, const std::string& where, const char* wanted) {
    if (!good && error->empty()) *error = fmt::format("{}: got {}, wanted {}", where, json.type_name(), wanted);
    return good;
  }
  void read(const Json& json, std::string& value, const std::string& where) {
    if (expect(json.is_string(), json, where, "a string")) value = json.get<std::string>();
  }
  void read(const Json& json, bool& value, const std::string& where) {
    if (expect(json.is_boolean(), json, where, "true or false")) value = json.get<bool>();
  }
  void read(const Json& json, double& value, const std::string& where) {
    if (json.is_null())
      value = std::numeric_limits<double>::quiet_NaN();
    else if (expect(json.is_number(), json, where, "a number"))
      value = json.get<double>();
  }
  void read(const Json& json, std::integral auto& value, const std::string& where) {
    using T = std::remove_reference_t<decltype(value)>;
    if (!expect(json.is_number_integer(), json, where, "an integer")) return;
    bool fits =
        json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>()) : std::in_range<T>(json.get<int64_t>());
    if (expect(fits, json, where, "an integer in range")) value = json.get<T>();
  }
  void read(const Json& json, Interval& value, const std::string& where) {
    if (!expect(json.is_array() && json.size() == 2, json, where, "[lo, hi]")) return;
    read(json[0], value.lo, where + "[0]");
    read(json[1], value.hi, where + "[1]");
  }
  void read(const Json& json, Category& value, const std::string& where) {
    std::string name;
    read(json, name, where);
    auto it = std::ranges::find(kCategoryNames, name);
    if (expect(it != kCategoryNames.end(), json, where, "a category")) value = Category(it - kCategoryNames.begin());
  }
  template <class T>
  void read(const Json& json, std::vector<T>& list, const std::string& where) {
    if (!expect(json.is_array(), json, where, "an array")) return;
    list.assign(json.size(), T{});
    for (size_t i = 0; i < list.size(); ++i) read(json[i], list[i], fmt::format("{}[{}]", where, i));
  }
  template <class T>
  void read(const Json& json, std::map<std::string, T>& map, const std::string& where) {
    if (!expect(json.is_object(), json, where, "an object")) return;
    map.clear();
    for (const auto& [key, value] : json.items()) read(value, map[key], where + "." + key);
  }
  template <class T>
  requires std::is_class_v<T>
  void read(const Json& json, T& value, const std::string& where) {
    if (!expect(json.is_object(), json, where, "an object")) return;
    Reader inner{&json, where, error};
    fields(inner, value);
  }
};

}  // namespace

Json to_json(const ClimbResult& result) {
  Json out = Writer::write(result);
  out["speedup"] = Writer::write(result.against_baseline.claimed());
  out["headlines"] = report::headlines(result);
  out["disturbance"] = to_json(result.disturbance);
  if (counts_instructions(result.device)) gpu::name_counts(out), out["clock"] = "instructions";
  return out;
}

Json to_json(const DeviceLoad& load) { return Writer::write(load); }
Json to_json(const Speedup& claim) { return Writer::write(claim); }

Json to_json(const Disturbance& disturbance) {
  Json out = Writer::write(disturbance);
  out["said"] = disturbance.text();
  return out;
}

Result<ClimbResult> from_json(const Json& json) {
  if (!json.is_object() || !json.contains("rungs")) return fail("not a climb's report: it has no field 'rungs'");
  ClimbResult result;
  std::string error;
  Reader reader{&json, "", &error};
  fields(reader, result);
  if (!error.empty()) return fail("report: {}", error);
  return result;
}

std::string json_text(const ClimbResult& result, bool pretty) { return dump_json(to_json(result), pretty ? 1 : -1); }

Result<ClimbResult> result_from_text(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("not a climb's report: it is not JSON");
  return from_json(json);
}

}  // namespace rung
