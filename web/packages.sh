# shellcheck shell=bash
# Sourced by web/serve and tests/run: installs what they miss, after saying so, and configures their builds.
#
#   need PACKAGE PROBE   notes PACKAGE as missing unless PROBE, a command's name or an absolute path, is there
#   install_missing      installs what need has noted; on a system without Debian's packages names it and stops
#   configure [emcmake] BUILD [OPTION...]   configures a build folder; always, because what was installed since changes it

MISSING=()

need() {
  case $2 in
    /*) [[ -e $2 ]] || MISSING+=("$1") ;;
    *) command -v "$2" > /dev/null || MISSING+=("$1") ;;
  esac
}

install_missing() {
  ((${#MISSING[@]})) || return 0
  if ! grep -qsE '^ID(_LIKE)?=.*debian' /etc/os-release || ! command -v apt-get > /dev/null; then
    echo "Please install what Debian packages as: ${MISSING[*]}" >&2
    exit 1
  fi
  local as_root=(env)
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
      echo "Missing: ${MISSING[*]}. Run this as root, or install sudo." >&2
      exit 1
    fi
    as_root=(sudo env)
  fi
  echo "Installing with apt-get: ${MISSING[*]}"
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${MISSING[@]}" > /dev/null
  hash -r
  MISSING=()
}

need_build_tools() {
  need g++ g++
  need cmake cmake
  need ninja-build ninja
  need ccache ccache
  need python3 python3
  need nlohmann-json3-dev /usr/include/nlohmann/json.hpp
  need emscripten em++
}

configure() {
  local wrapper=()
  if [[ $1 == emcmake ]]; then
    wrapper=("$1")
    shift
  fi
  "${wrapper[@]}" cmake -S . -B "$1" -G Ninja "${@:2}"
}
