// Reads Chrome's JSON of PyTorch's profiler and of rung's own profile.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_document.hpp"
#include "trace/recording/chrome_recorder.hpp"
#include "trace/recording/reader.hpp"

namespace rung::trace {

const TraceReader chrome_reader{"JSON of PyTorch's profiler or of `rung profile --trace`",
                                [](const TraceFile& file) { return !chrome_text(file.head).empty(); },
                                read_chrome_document<ChromeRecorder>};

}  // namespace rung::trace
