// Chooses the form of a kernel, element by element or row by row.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/source.hpp"

#include <algorithm>

#include "kernels/generated/gpu/element_form.hpp"
#include "kernels/generated/gpu/row_form.hpp"

namespace rung::gpu {
Result<GeneratedSource> generate_source(const Problem& problem, const GpuInfo& gpu) {
  RUNG_TRY(GeneratedWork work, work_of(problem));
  const bool by_element =
      !work.program.reduces() && std::ranges::none_of(work.program.results, [&](const RegionResult& r) {
        return work.rows[static_cast<size_t>(r.index)] && work.shape.rank() > 0 && work.shape.back() > 1;
      });
  if (by_element) return element_form(work, gpu);
  return row_form(work, gpu);
}

}  // namespace rung::gpu
