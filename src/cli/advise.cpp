// rung advise: finds in a profiler's trace what holds latency back, and what each remedy can bring at most.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/card_peaks.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/advice/advice.hpp"
#include "trace/difference.hpp"
#include "trace/recording/read.hpp"

namespace rung::cli {
namespace {

struct AdviseFlags {
  std::string trace, against, html, markdown, gpu;
  bool json = false;
};

// Returns the card's name; empty: the trace tells it. Errors (usage): a card that is not in the table.
Result<std::string> card_of(const std::string& gpu) {
  if (gpu.empty()) return gpu;
  if (const CardPeaks* card = peaks_of_device(gpu)) return std::string(card->name);
  return wrong_usage("gpu: got '{}', wanted one of {}", gpu, names_of_cards());
}

Result<trace::Summary> read_summary(const std::string& path, const std::string& card) {
  RUNG_TRY(trace::Recording recording, trace::read_recording(path));
  if (!card.empty()) trace::name_all_devices(recording, card);
  return trace::summarise(path, trace::analyse(recording));
}

Status run_advise(const AdviseFlags& flags) {
  RUNG_TRY(const std::string card, card_of(flags.gpu));
  RUNG_TRY(const trace::Summary summary, read_summary(flags.trace, card));
  std::optional<trace::Difference> difference;
  if (!flags.against.empty()) {
    RUNG_TRY(const trace::Summary other, read_summary(flags.against, card));
    difference = trace::difference(other, summary);
  }
  const trace::Difference* against = difference ? &*difference : nullptr;
  if (!flags.html.empty()) RUNG_CHECK(write_file_atomically(flags.html, advice_html(summary, against)));
  if (!flags.markdown.empty()) RUNG_CHECK(write_file_atomically(flags.markdown, advice_markdown(summary, against)));
  if (flags.json) {
    nlohmann::json object = to_json(summary);
    if (against) object["difference"] = to_json(*against);
    print_json(object);
  } else {
    fmt::print("{}", advice_text(summary, against));
  }
  if (!summary.is_complete()) return fail("{}: {}", flags.trace, summary.notes.front().text);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> advise_command(CLI::App& app) {
  auto flags = std::make_shared<AdviseFlags>();
  auto* command = add_command(app, "advise", "find what costs latency in a profiler's trace, and what helps");
  add_file(*command, flags->trace, "a trace of PyTorch, JAX, rocprof, Nsight Systems or rung, or a folder of ranks")
      .required();
  add(*command, "json", flags->json);
  add(*command, "against", flags->against);
  add(*command, "gpu", flags->gpu)
      .described("the GPU, if the trace does not name it: mi300x, h100, \"a100 80gb\", \"rtx 4090\", ...");
  add(*command, "html", flags->html);
  add(*command, "markdown", flags->markdown);
  return {command, [flags] { return run_advise(*flags); }};
}

}  // namespace rung::cli
