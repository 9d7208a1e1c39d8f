// The most that is read of what others wrote; more is refused before memory is taken for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace rung {

// Configs, tokenizers, recipes, the tuning database: the largest tokenizers of published models have 35 MB.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;

// Values of one JSON document; a value takes up to 100 bytes of memory, however few of text.
inline constexpr size_t kMaxJsonValues = 4'000'000;
inline constexpr size_t kMaxJsonDepth = 64;  // keeps readers safe to recurse

// The format's own limit.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

// Limits of one .npz archive: members, a member's header (numpy's own limit), and all arrays together, unpacked.
inline constexpr uint64_t kMaxArrays = 4096;
inline constexpr uint64_t kMaxArrayHeaderBytes = 10'000;
inline constexpr uint64_t kMaxArchiveBytes = uint64_t{1} << 30;

// Bytes of compressed bundles of code objects, unpacked: of one, and of all of a file together, that many times the
// file and some more, for the zeros that pad small ones. Code becomes 10 to 30 times smaller.
inline constexpr uint64_t kMaxUnpackedBundleBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxBundleRatio = 256, kFreeBundleBytes = uint64_t{16} << 20;

}  // namespace rung
