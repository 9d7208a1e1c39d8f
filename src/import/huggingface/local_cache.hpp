// Models by name: the snapshots that Hugging Face's libraries keep on this machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace rung::huggingface {

// Returns the folder of snapshots: $HF_HUB_CACHE, else hub/ in $HF_HOME, else huggingface/hub in the user's cache.
std::string cache_folder();

// Returns the directory of a model that is named "ORG/NAME", "NAME" or either with "@REVISION" (a branch, a tag or a
// commit; the default is "main"); none: it is no such name, or the cache does not have it. Nothing is downloaded.
// Source: the cache's layout as huggingface_hub documents it (models--ORG--NAME/{refs,snapshots}).
std::optional<std::string> cached_directory(const std::string& name);

}  // namespace rung::huggingface
