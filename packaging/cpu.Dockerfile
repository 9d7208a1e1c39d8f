# rung for processors, without GPU kernels. In the root of a clone:
#   docker build -f packaging/cpu.Dockerfile -t rung .
#   docker run --rm -v "$PWD:/work" -w /work rung climb MODEL --shape input_ids=1,128
# SPDX-License-Identifier: Apache-2.0
ARG SYSTEM=debian:12

# What building takes is installed by ./dev, from the list in tools/setup.sh.
FROM ${SYSTEM} AS build
WORKDIR /rung
COPY . .
RUN ./dev deb

# The Debian package names what it needs: no list of packages stands here.
FROM ${SYSTEM}
COPY --from=build /rung/build/package/*.deb /tmp/rung/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/rung/*.deb && rm -rf /tmp/rung /var/lib/apt/lists/*
# The tuning database, for whichever user the container runs as.
RUN install -d -m 1777 /var/cache/rung
ENV RUNG_CACHE_DIR=/var/cache/rung
ENTRYPOINT ["rung"]
