// The knob table and the look-up by name.
// SPDX-License-Identifier: Apache-2.0
#include "advise/knob.hpp"

#include <algorithm>
#include <utility>

namespace rung::advise {
namespace {

#define RUNG_SOURCE(id, reader, document) constexpr Source id{reader, document};
namespace sources {
#include "advise/knobs/sources.inc"
}
#undef RUNG_SOURCE

namespace forms {
constexpr Form any{FormKind::any, {}}, zero_one{FormKind::zero_one, {}}, boolean{FormKind::boolean, {}},
    integer{FormKind::integer, {}}, hex_mask{FormKind::hex_mask, {}}, cu_ranges{FormKind::cu_ranges, {}},
    version{FormKind::version, {}}, devices{FormKind::devices, {}}, settings{FormKind::settings, {}},
    path{FormKind::path, {}}, text{FormKind::text, {}};
constexpr Form words(std::string_view words) { return {FormKind::words, words}; }
}  // namespace forms

#define RUNG_KNOB(source, name, form, default_value, verdict, versions, meaning) \
  Knob{&sources::source, #name, forms::form, default_value, Verdict::verdict, versions, meaning},
constexpr Knob kKnobs[] = {
#include "advise/knobs/cuda.inc"
#include "advise/knobs/hip.inc"
#include "advise/knobs/nccl.inc"
#include "advise/knobs/phantoms.inc"
#include "advise/knobs/pytorch.inc"
#include "advise/knobs/rocm_libraries.inc"
#include "advise/knobs/rocr.inc"
#include "advise/knobs/triton.inc"
#include "advise/knobs/vllm.inc"
};
#undef RUNG_KNOB

constexpr std::string_view kReadNames[] = {
#include "advise/knobs/read_names.inc"
};
static_assert(std::is_sorted(std::begin(kReadNames), std::end(kReadNames)));

constexpr std::string_view kPrefixes[] = {
    "AITER_",  "AMD_",  "AMDGCN_",  "CUDA_", "DEBUG_CLR_", "DEBUG_HIP_", "GPU_",   "HIPBLASLT_",     "HIP_",    "HSA_",
    "MIOPEN_", "NCCL_", "PYTORCH_", "RCCL_", "ROCBLAS_",   "ROC_",       "TORCH_", "TORCHINDUCTOR_", "TRITON_", "VLLM_",
};

// Least number of letters to change, insert, leave out or swap with the next, or `limit` if it is that or more.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() >= limit) return limit;
  std::vector<size_t> before_last, last(a.size() + 1), row(a.size() + 1);
  for (size_t i = 0; i <= a.size(); ++i) last[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    row[0] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      row[i] = std::min({row[i - 1] + 1, last[i] + 1, last[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[i] = std::min(row[i], before_last[i - 2] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return std::min(last[a.size()], limit);
}

}  // namespace

std::span<const Knob> knob_table() { return kKnobs; }

const Knob* find_knob(std::string_view name) {
  const auto* it = std::ranges::find(kKnobs, name, &Knob::name);
  return it == std::end(kKnobs) ? nullptr : it;
}

bool is_read_somewhere(std::string_view name) {
  return find_knob(name) || std::ranges::binary_search(kReadNames, name);
}

bool has_known_prefix(std::string_view name) {
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view nearest_name(std::string_view name) {
  size_t least = std::min<size_t>(3, name.size() / 4);  // in a short name two letters make another word
  std::string_view nearest;
  const auto consider = [&](std::string_view known) {
    const size_t d = distance(name, known, least);
    if (d < least) least = d, nearest = known;
  };
  for (const Knob& knob : kKnobs)
    if (knob.verdict != Verdict::no_op) consider(knob.name);
  for (const std::string_view known : kReadNames) consider(known);
  return nearest;
}

}  // namespace rung::advise
