// Writes a comparison as sentences, JSON and Markdown.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "device/gpu/counted_figures.hpp"
#include "report/format.hpp"
#include "report/json.hpp"
#include "report/load_lines.hpp"
#include "report/markdown_text.hpp"
#include "report/speedup_lines.hpp"
#include "tasks/compare.hpp"
#include "tasks/verify.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

std::string limit_text(const Compared& compared) { return fmt::format("{:g} %", compared.max_slowdown * 100); }

Json to_json(const ComparedSide& side) {
  Json json{{"path", side.path},
            {"recipe", side.recipe},
            {"tool", side.tool},
            {"version", side.version},
            {"precision", name_of(side.precision)},
            {"threads", nullptr},
            {"launches", nullptr}};
  if (side.threads) json["threads"] = *side.threads;
  if (side.launches) json["launches"] = *side.launches;
  return json;
}

std::string names(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ", ")); }

// Returns words that distinguish the two sides.
std::string description(const ComparedSide& side) {
  std::string text = report::markdown_text(side.path);
  if (!side.recipe.empty()) text += ", recipe " + report::markdown_text(side.recipe);
  if (!side.tool.empty()) text += ", by " + report::markdown_text(side.tool);
  if (!side.version.empty()) text += fmt::format(" ({})", report::markdown_text(side.version));
  return text;
}

std::string number(const std::optional<int>& value) {
  return value ? report::count(*value) : std::string(words::kNone);
}

}  // namespace

std::string ratio_line(const Compared& compared) {
  const Speedup& s = compared.speedup;
  const std::string once =
      compared.starts > 1 ? "" : "; both were started only once, which a few per cent may be due to";
  return fmt::format("B takes {} × the time of A [{}, {}], in {}{}", report::ratio(1 / s.ratio),
                     report::ratio(1 / s.ci95.hi), report::ratio(1 / s.ci95.lo), report::counted(s.pairs, "pair"),
                     once);
}

std::string headline_of(const Compared& compared) {
  const std::string limit = limit_text(compared), factor = report::factor_text(compared.speedup);
  switch (compared.pace()) {
    case Pace::faster:
      return fmt::format("B is {} than A", factor);
    case Pace::slower:
      return fmt::format("B is {} than A, beyond the limit of {}", factor, limit);
    case Pace::within_limit:
      return fmt::format("B is not slower than A by more than {}", limit);
    case Pace::unclear:
      break;
  }
  return fmt::format("unclear: B may or may not be slower than A by more than {}", limit);
}

std::string outputs_line(const Compared& compared) {
  if (compared.outputs_agree()) return "the outputs agree";
  std::vector<std::string> reasons;
  if (!compared.outputs.passed) reasons.push_back(compared.outputs.reason);
  if (!compared.only_in_a.empty()) reasons.push_back("only A gives " + names(compared.only_in_a));
  if (!compared.only_in_b.empty()) reasons.push_back("only B gives " + names(compared.only_in_b));
  return report::printable(fmt::format("the outputs differ: {}", fmt::join(reasons, "; ")));
}

std::string to_markdown(const Compared& compared) {
  using namespace report;
  const Clock clock = clock_of(compared.device);
  std::string out = fmt::format("### {}\n\n", markdown_text(headline_of(compared)));
  out += fmt::format("{}; {}.\n\n", markdown_text(ratio_line(compared)), markdown_text(outputs_line(compared)));
  out += "| | A | B |\n| :-- | :-- | :-- |\n";
  const ComparedSide &a = compared.a, &b = compared.b;
  out += fmt::format("| what | {} | {} |\n", description(a), description(b));
  out += fmt::format("| median | {} | {} |\n", duration_ms(compared.speedup.before_ms, clock),
                     duration_ms(compared.speedup.after_ms, clock));
  if (a.threads && *a.threads > 0) out += fmt::format("| threads | {} | {} |\n", number(a.threads), number(b.threads));
  if (a.launches) out += fmt::format("| launches | {} | {} |\n", number(a.launches), number(b.launches));
  out += fmt::format("| precision | {} | {} |\n\n", name_of(a.precision), name_of(b.precision));
  out += "| output | rel. L2 | largest error | cosine | |\n| :-- | --: | --: | --: | :-- |\n";
  for (const Comparison& o : compared.outputs.outputs)
    out += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_text(o.name), scientific(o.rel_l2),
                       scientific(o.max_abs), fixed(o.cosine, 8), o.passed ? "agrees" : "differs");
  const std::string disturbed = disturbance_line(compared.disturbance);
  return out + fmt::format("\n{}\n", markdown_text(compared.device)) +
         (disturbed.empty() ? disturbed : fmt::format("\n{}\n", markdown_text(disturbed)));
}

Json to_json(const Compared& compared) {
  Json json = {{"a", to_json(compared.a)},
               {"b", to_json(compared.b)},
               {"device", compared.device},
               {"verdict", name_of(compared.pace())},
               {"headline", headline_of(compared)},
               {"max_slowdown", compared.max_slowdown},
               {"speedup", rung::to_json(compared.speedup)},
               {"starts", compared.starts},
               {"outputs_agree", compared.outputs_agree()},
               {"outputs", outputs_json(compared.outputs)},
               {"tolerance", {{"rel_l2", compared.tolerance.rel_l2}, {"element", compared.tolerance.element}}},
               {"only_in_a", compared.only_in_a},
               {"only_in_b", compared.only_in_b},
               {"disturbance", rung::to_json(compared.disturbance)}};
  if (report::clock_of(compared.device) == report::Clock::instructions)
    gpu::name_counts(json), json["clock"] = "instructions";
  return json;
}

}  // namespace rung::tasks
