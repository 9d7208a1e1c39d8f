// An .npz file as numpy itself wrote it: two deflated members with zip64 sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung {

// numpy.savez_compressed(x=numpy.asfortranarray(numpy.arange(6, dtype="<f8").reshape(2, 3) / 4), m=[True, False])
inline constexpr std::string_view kNumpyArchive =
    "504b03042d00000008000000210058d8d625ffffffffffffffff05001400782e6e707901001000b0000000000000005600000000"
    "0000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a120f292a4d050a17"
    "672416a402b91a463a0ac69a3a0ab50ae4032e0614f0c21e425f80d21fa0f40328fdc51e00504b03042d000000080000002100ee"
    "19bb5dffffffffffffffff050014006d2e6e707901001000820000000000000046000000000000009bec17ea1b10c9c850c650ad"
    "9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a"
    "14002e460600504b01022d032d00000008000000210058d8d62556000000b0000000050000000000000000000000800100000000"
    "782e6e7079504b01022d032d000000080000002100ee19bb5d460000008200000005000000000000000000000080018d0000006d"
    "2e6e7079504b05060000000002000200660000000a0100000000";

inline std::string numpy_archive() {
  std::string bytes;
  for (size_t i = 0; i < kNumpyArchive.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(kNumpyArchive.substr(i, 2)), nullptr, 16));
  return bytes;
}

}  // namespace rung
