// PyTorch's profiler and rung's own profile write Chrome's JSON.
// SPDX-License-Identifier: Apache-2.0
#include "advise/trace/chrome_document.hpp"
#include "advise/trace/chrome_recorder.hpp"
#include "advise/trace/reader.hpp"

namespace rung::advise {

const TraceReader chrome_reader{"JSON of PyTorch's profiler or of `rung profile --trace`",
                                [](const TraceFile& file) { return !chrome_text(file.head).empty(); },
                                read_chrome_document<ChromeRecorder>};

}  // namespace rung::advise
