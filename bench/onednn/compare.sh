#!/bin/sh
# Times builds of bench.cpp against different versions of oneDNN in turns, under each cap of the instruction sets and on
# 1 and 2 threads; medians and bests over rounds. Usage: compare.sh ROUNDS OLD NEW [CAP...]
# SPDX-License-Identifier: Apache-2.0
set -eu
rounds=$1 old=$2 new=$3
shift 3
[ $# -gt 0 ] || set -- AVX2 AVX512_CORE AVX512_CORE_BF16 AVX512_CORE_AMX
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
export OMP_NUM_THREADS=1

reached=""
for cap in "$@"; do
  export ONEDNN_MAX_CPU_ISA="$cap" DNNL_MAX_CPU_ISA="$cap"
  isa=$("$new" 0 | sed -n '1s/^# oneDNN [^ ]* \(cpu_isa_\)*\([^,]*\),.*/\2/p')
  case " $reached " in *" $isa "*) continue ;; esac  # this processor has no more than the cap before
  reached="$reached $isa"
  for threads in 1 2; do
    : > "$lines"
    for round in $(seq "$rounds"); do
      for build in "$old" "$new"; do
        "$build" "$threads" 8 | sed "s|^|$([ "$build" = "$old" ] && echo old || echo new) |" >> "$lines"
      done
    done
    echo "== $isa, $threads thread(s): microseconds of $("$old" 0 | sed -n '1s/^# \(oneDNN [^ ]*\).*/\1/p')" \
      "and of $("$new" 0 | sed -n '1s/^# \(oneDNN [^ ]*\).*/\1/p'), old/new (above 1: the new one is faster)"
    printf '%-24s %10s %10s %6s %10s %10s %6s\n' product median '' ratio best '' ratio
    grep -v ' #' "$lines" | sort -k2,2 -k1,1 -k3,3g | awk '
      function close_group() {
        if (count) { median[side] = times[int((count + 1) / 2)]; best[side] = least; used[side] = how }
        count = 0
      }
      function pair(of) {
        if (!("old" in of) || !("new" in of)) return sprintf("%10s %10s %6s", of["old"], of["new"], "-")
        return sprintf("%10s %10s %6.2f", of["old"], of["new"], of["old"] / of["new"])
      }
      function close_key() {
        close_group()
        if (key != "") printf "%-24s %s %s  %s | %s\n", key, pair(median), pair(best), used["old"], used["new"]
        delete median; delete best; delete used
      }
      { if ($2 != key) { close_key(); key = $2; side = $1 } else if ($1 != side) { close_group(); side = $1 }
        if (!count || $4 < least) least = $4
        times[++count] = $3; how = $5 }
      END { close_key() }'
  done
done
