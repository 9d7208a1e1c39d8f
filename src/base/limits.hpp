// The most that is read from files that others wrote; more is refused before memory is taken for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace rung {

// The limit of configs, tokenizers, recipes and the tuning database: published models' largest tokenizers have 35 MB.
inline constexpr size_t kMaxTextBytes = size_t{64} << 20;

// The most values in one JSON document; a value takes up to 100 bytes of memory, however short its text.
inline constexpr size_t kMaxJsonValues = 4'000'000;
inline constexpr size_t kMaxJsonDepth = 64;  // keeps readers safe to recurse

// The limit is the format's own.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

// The most members of one zip archive. A program of PyTorch has about two for each weight.
inline constexpr uint64_t kMaxArchiveMembers = uint64_t{1} << 20;

// Limits of one .npz archive: a member's header (numpy's own limit), and all arrays together, unpacked.
inline constexpr uint64_t kMaxArrayHeaderBytes = 10'000;
inline constexpr uint64_t kMaxArchiveBytes = uint64_t{1} << 30;

// Unpacked bytes of compressed bundles of code objects: of one bundle, and of all in a file together, that many times
// the file and some more, for the zeros that pad small ones. Code shrinks 10 to 30 times.
inline constexpr uint64_t kMaxUnpackedBundleBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxBundleRatio = 256, kFreeBundleBytes = uint64_t{16} << 20;

// Limits of the code in a plan, unpacked: of one source, one image, and all together. A generated kernel has some
// thousand bytes of source and some ten thousand of machine code; an image may hold dozens of kernels.
inline constexpr size_t kMaxCodeSourceBytes = size_t{1} << 20, kMaxCodeImageBytes = size_t{16} << 20;
inline constexpr size_t kMaxPlanCodeBytes = size_t{256} << 20;

}  // namespace rung
