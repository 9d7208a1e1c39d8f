# rung with its kernels for NVIDIA GPUs. In the root of a clone, where the NVIDIA Container Toolkit is installed:
#   docker build -f packaging/cuda.Dockerfile -t rung:cuda .
#   docker run --rm --gpus all -v "$PWD:/work" -w /work rung:cuda climb MODEL --device cuda --shape input_ids=1,128
# Another CUDA: --build-arg CUDA=nvidia/cuda:VERSION and --build-arg CUDA_SYSTEM=NAME, as its images are named.
# SPDX-License-Identifier: Apache-2.0
ARG SYSTEM=debian:12
ARG CUDA=nvidia/cuda:13.0.0
ARG CUDA_SYSTEM=ubuntu22.04

# nvcc runs on any system with a C library as new as this one's, so that rung is built and run on ${SYSTEM} alone.
FROM ${CUDA}-devel-${CUDA_SYSTEM} AS toolkit
RUN cp -a "$(readlink -f /usr/local/cuda)" /toolkit

FROM ${CUDA}-runtime-${CUDA_SYSTEM} AS libraries
RUN mkdir /libraries && cp -a /usr/local/cuda/lib64/libcublasLt.so.* /libraries/

FROM ${SYSTEM} AS build
COPY --from=toolkit /toolkit /usr/local/cuda
WORKDIR /rung
COPY . .
RUN ./dev deb --gpu

FROM ${SYSTEM}
COPY --from=libraries /libraries/ /usr/local/lib/
COPY --from=build /rung/build/package/*.deb /tmp/rung/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/rung/*.deb && rm -rf /tmp/rung /var/lib/apt/lists/* && ldconfig
# The tuning database, for whichever user the container runs as.
RUN install -d -m 1777 /var/cache/rung
ENV RUNG_CACHE_DIR=/var/cache/rung
# The driver is the host's: the container toolkit puts it in by these.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENTRYPOINT ["rung"]
