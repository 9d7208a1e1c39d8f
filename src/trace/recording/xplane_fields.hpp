// Numbers of the fields read from XLA's profile, from its public xplane.proto.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace::xplane {

// Fields of XSpace
inline constexpr uint32_t kPlane = 1;
// Fields of XPlane and the entries of its maps
inline constexpr uint32_t kPlaneId = 1, kPlaneName = 2, kLines = 3, kEventNames = 4, kStatNames = 5, kPlaneStats = 6;
inline constexpr uint32_t kMapKey = 1, kMapValue = 2;
// Fields of XEventMetadata, XStatMetadata
inline constexpr uint32_t kMetadataName = 2;
// Fields of XLine
inline constexpr uint32_t kLineId = 1, kLineName = 2, kLineStart = 3, kEvents = 4, kLineLabel = 11;
// Fields of XEvent
inline constexpr uint32_t kEventName = 1, kOffset = 2, kEventDuration = 3, kEventStats = 4;
// Fields of XStat
inline constexpr uint32_t kStatName = 1, kStatUnsigned = 3, kStatSigned = 4, kStatText = 5, kStatReference = 7;

}  // namespace rung::trace::xplane
