// Numbers of the fields that are read of XLA's profile, as its public xplane.proto has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace::xplane {

// XSpace
inline constexpr uint32_t kPlane = 1;
// XPlane, and the entries of its maps
inline constexpr uint32_t kPlaneId = 1, kPlaneName = 2, kLines = 3, kEventNames = 4, kStatNames = 5, kPlaneStats = 6;
inline constexpr uint32_t kMapKey = 1, kMapValue = 2;
// XEventMetadata, XStatMetadata
inline constexpr uint32_t kMetadataName = 2;
// XLine
inline constexpr uint32_t kLineId = 1, kLineName = 2, kLineStart = 3, kEvents = 4, kLineLabel = 11;
// XEvent
inline constexpr uint32_t kEventName = 1, kOffset = 2, kEventDuration = 3, kEventStats = 4;
// XStat
inline constexpr uint32_t kStatName = 1, kStatUnsigned = 3, kStatSigned = 4, kStatText = 5, kStatReference = 7;

}  // namespace rung::trace::xplane
