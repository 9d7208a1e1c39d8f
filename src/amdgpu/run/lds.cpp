// Keeps the race shadow of LDS: marks of the last write and read of each dword, or of each byte where these differ.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/lds.hpp"

#include <algorithm>

namespace rung::amdgpu {

void Lds::reset(size_t bytes, const Checks& checks) {
  checks_ = checks;
  watched_ = checks.races || checks.uninitialised || checks.waits;
  bytes_.assign(bytes, std::byte{0});
  for (auto* marks : {&dwords_.write, &dwords_.read}) marks->assign(watched_ ? (bytes + 3) / 4 : 0, 0);
  epoch_ = 1;
}

std::optional<LdsFault> Lds::read_cell(Cell& cell, uint32_t byte, uint32_t me) const {
  const uint32_t write = cell.write;
  if ((write & kWho) == 0 && checks_.uninitialised) return LdsFault{DefectKind::uninitialised, byte, -1};
  if (must_wait(write, me)) return LdsFault{DefectKind::missing_wait, byte, other_of(write)};
  if (write >> kEpoch == epoch_ && (write & kWho) != me && checks_.races)
    return LdsFault{DefectKind::lds_race, byte, other_of(write)};
  const uint32_t mark = epoch_ << kEpoch | me;
  if (cell.read >> kEpoch != epoch_)
    cell.read = mark;
  else if (cell.read != mark)
    cell.read = epoch_ << kEpoch | kMany;
  return std::nullopt;
}

std::optional<LdsFault> Lds::write_cell(Cell& cell, uint32_t byte, uint32_t me, bool atomic) const {
  const uint32_t write = cell.write;
  if (atomic && (write & kWho) == 0 && checks_.uninitialised) return LdsFault{DefectKind::uninitialised, byte, -1};
  if (must_wait(write, me)) return LdsFault{DefectKind::missing_wait, byte, other_of(write)};
  if (cell.read >> kEpoch == epoch_ && (cell.read & kWho) != me && checks_.races)
    return LdsFault{DefectKind::lds_race, byte, other_of(cell.read)};
  uint32_t who = me;
  if (write >> kEpoch == epoch_ && (write & kWho) != me && checks_.races) {
    if (!atomic || !(write & kAtomic)) return LdsFault{DefectKind::lds_race, byte, other_of(write)};
    who = kMany;
  }
  cell.write = epoch_ << kEpoch | who | (atomic ? kAtomic : 0);
  return std::nullopt;
}

void Lds::split(uint32_t dword) {
  if (each_.write.size() < dwords_.write.size() * 4) each_.write.resize(dwords_.write.size() * 4);
  if (each_.read.size() < dwords_.read.size() * 4) each_.read.resize(dwords_.read.size() * 4);
  std::fill_n(each_.write.begin() + dword * 4, 4, dwords_.write[dword]);
  std::fill_n(each_.read.begin() + dword * 4, 4, dwords_.read[dword]);
  dwords_.write[dword] |= kSplit;
}

// Joins a dword after a write of all of it: its bytes have the same mark of the write. In this epoch only the same wave
// read them, or the write would have been a race.
void Lds::join(uint32_t dword) {
  dwords_.write[dword] = each_.write[dword * 4];
  dwords_.read[dword] = *std::max_element(each_.read.begin() + dword * 4, each_.read.begin() + dword * 4 + 4);
}

std::optional<LdsFault> Lds::touch_place(Marks& marks, size_t place, uint32_t byte, const Access& access) const {
  Cell cell{marks.write[place], marks.read[place]};
  const uint32_t me = access.wave + 1;
  const auto fault =
      access.use == LdsUse::read ? read_cell(cell, byte, me) : write_cell(cell, byte, me, access.use == LdsUse::atomic);
  marks.write[place] = cell.write, marks.read[place] = cell.read;
  return fault;
}

std::optional<LdsFault> Lds::touch(uint32_t address, const Access& access) {
  const uint32_t end = address + access.count;
  for (uint32_t byte = address; byte < end;) {
    const uint32_t dword = byte / 4, stop = std::min(end, dword * 4 + 4);
    const bool whole = stop - byte == 4;
    if (whole && !(dwords_.write[dword] & kSplit)) {
      if (auto fault = touch_place(dwords_, dword, byte, access)) return fault;
      byte = stop;
      continue;
    }
    if (!(dwords_.write[dword] & kSplit)) split(dword);
    for (; byte < stop; ++byte)
      if (auto fault = touch_place(each_, byte, byte, access)) return fault;
    if (whole && access.use == LdsUse::write) join(dword);
  }
  return std::nullopt;
}

namespace {

constexpr uint32_t all_if(bool is) { return is ? ~uint32_t{0} : 0; }

// The marks of `count` places that a wave touches, and the wave's own mark `mark`. The marks change only if all places
// are in order: no flag of `odd` is set, no other wave wrote one in this epoch, and, for reads, some wave wrote each
// before.
struct Places {
  uint32_t* write;
  uint32_t* read;
  size_t count;
};
struct Marking {
  uint32_t mark, who, odd;
  int epoch;  // the lowest bit of the epoch
};

bool read_places(const Places& places, const Marking& m) {
  const uint32_t now = m.mark >> m.epoch;
  uint32_t wrong = 0;
  for (size_t k = 0; k < places.count; ++k) {
    const uint32_t write = places.write[k];
    wrong |=
        (write & m.odd) | all_if((write & m.who) == 0) | (all_if(write >> m.epoch == now) & all_if(write != m.mark));
  }
  if (wrong) return false;
  const uint32_t many = (now << m.epoch) | m.who;
  for (size_t k = 0; k < places.count; ++k) {
    const uint32_t read = places.read[k];
    places.read[k] = read >> m.epoch == now && read != m.mark ? many : m.mark;
  }
  return true;
}

bool write_places(const Places& places, const Marking& m) {
  const uint32_t now = m.mark >> m.epoch;
  uint32_t wrong = 0;
  for (size_t k = 0; k < places.count; ++k) {
    const uint32_t write = places.write[k], read = places.read[k];
    wrong |= (write & m.odd) | (all_if(write >> m.epoch == now) & all_if(write != m.mark)) |
             (all_if(read >> m.epoch == now) & all_if(read != m.mark));
  }
  if (wrong) return false;
  std::fill_n(places.write, places.count, m.mark);
  return true;
}

}  // namespace

// Touches plain places by runs of dwords, or by bytes if they are split. False: touch() looks at each lane; it may
// touch places again that were touched until then.
bool Lds::touch_runs(const Access& access) {
  const Marking marking{epoch_ << kEpoch | (access.wave + 1), kWho, kPending | kLate | kAtomic, kEpoch};
  const auto mark_all = [&](Marks& marks, size_t first, size_t count, uint32_t odd) {
    const Places places{marks.write.data() + first, marks.read.data() + first, count};
    Marking all = marking;
    all.odd |= odd;
    return access.use == LdsUse::read ? read_places(places, all) : write_places(places, all);
  };
  const auto lowest = static_cast<uint32_t>(access.addresses[0] + static_cast<uint64_t>(access.pattern->lowest));
  for (const ByteRun& run : access.pattern->runs) {
    const auto begin = lowest + static_cast<uint32_t>(run.begin), count = static_cast<uint32_t>(run.count);
    const bool whole = (begin | count) % 4 == 0;
    if (whole && mark_all(dwords_, begin / 4, count / 4, kSplit)) continue;
    const uint32_t last = (begin + count - 1) / 4;
    for (uint32_t dword = begin / 4; dword <= last; ++dword)
      if (!(dwords_.write[dword] & kSplit)) return false;
    if (!mark_all(each_, begin, count, 0)) return false;
    for (uint32_t dword = begin / 4; whole && access.use == LdsUse::write && dword <= last; ++dword) join(dword);
  }
  return true;
}

int Lds::touch(const Access& access, LdsFault& fault) {
  if (access.use != LdsUse::atomic && touch_runs(access)) return -1;
  uint64_t last = ~uint64_t{0};
  for (uint64_t lanes = access.pattern->lanes; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    const uint64_t address = access.addresses[lane];
    if (address == last) continue;
    last = address;
    if (const auto found = touch(static_cast<uint32_t>(address), access)) {
      fault = *found;
      return lane;
    }
  }
  return -1;
}

void Lds::settle(const Access& access) {
  const uint32_t mark = epoch_ << kEpoch | (access.wave + 1) | (access.use == LdsUse::atomic ? kAtomic : 0);
  for (uint64_t lanes = access.pattern->lanes; lanes != 0; lanes &= lanes - 1) {
    const auto begin = static_cast<uint32_t>(access.addresses[__builtin_ctzll(lanes)]);
    for (uint32_t byte = begin; byte < begin + access.count; ++byte) {
      if (!(dwords_.write[byte / 4] & kSplit)) split(byte / 4);
      if (access.use == LdsUse::read)
        each_.write[byte] &= ~(kPending | kLate);
      else
        each_.write[byte] = mark, each_.read[byte] = 0;
    }
  }
}

void Lds::set_pending(uint32_t address, uint32_t count, bool pending, bool others) {
  if (!watched_) return;
  const uint32_t flag = others ? kLate : kPending;
  for (uint32_t byte = address; byte < address + count; ++byte) {
    if (!(dwords_.write[byte / 4] & kSplit)) split(byte / 4);
    uint32_t& write = each_.write[byte];
    write = pending ? write | flag : write & ~flag;
  }
}

}  // namespace rung::amdgpu
