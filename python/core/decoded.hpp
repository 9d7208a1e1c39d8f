// Texts of token ids, whichever model's tokenizer makes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/gil.hpp"
#include "core/options.hpp"

namespace rung::python {

// Calls `decode` without the GIL, until its place has room for the text.
template <class Decode>
std::string decoded(nb::handle ids, bool skips_special, nb::handle cleans_up, const Decode& decode) {
  const std::vector<int64_t> numbers = token_ids(ids);
  rung_decode_options options = RUNG_DECODE_OPTIONS_INIT;
  options.keep_special = !skips_special;
  if (!cleans_up.is_none()) options.clean_up = nb::cast<bool>(cleans_up) ? RUNG_CLEAN_UP_ON : RUNG_CLEAN_UP_OFF;
  std::string text(16 * numbers.size() + 64, '\0');
  for (;;) {
    rung_text place{text.data(), text.size(), 0};
    check(without_gil([&] { return decode(numbers, options, place); }));
    const bool fits = place.bytes < text.size();
    text.resize(fits ? place.bytes : place.bytes + 1);
    if (fits) return text;
  }
}

}  // namespace rung::python
