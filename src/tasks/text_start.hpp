// The states with which the runs of a decoder's climb begin: those that a text leaves, or a source.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "tasks/climb.hpp"

namespace rung::tasks {

// Gives each subject that needs it the states with which its runs begin: those behind a text of ClimbTask::text_before
// tokens, and those that an encoder leaves for its decoder's chunks. Plans in f32, with default kernels, read sampled
// tokens and a sampled source. The tasks are of one model, `opened` in their order. Errors: those of open_decoder(); a
// text that the caches have no room for (usage); interrupted.
Status begin_behind_texts(std::span<const ClimbTask> tasks, std::span<Opened> opened);

}  // namespace rung::tasks
