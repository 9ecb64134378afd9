# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# What ./sbt, make and the wheel build share: a JDK 17 or 21, Python 3.11 or later, and the
# virtual environment .venv. POSIX sh, sourced from the root of the repository.
#
#   use_jdk                exports JAVA_HOME and puts its java first on the PATH
#   use_spark              use_jdk, and makes this Spark and this Python the ones that run
#   install WHAT...        makes .venv if need be and installs WHAT at the pinned versions
#
# As root on Debian a missing piece is installed by apt-get; elsewhere one sentence says what it is.

say() { printf 'plait: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# The version that python/constraints.txt pins $1 to.
pinned() { sed -n "s/^$1==//p" python/constraints.txt; }

can_apt() { [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null; }

# Installs the first of the named Debian packages that the system offers.
apt_install_one_of() {
  say "installing one of: $* (apt-get, as root)"
  apt-get update -q >&2 || return 1
  for package in "$@"; do
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package" >&2 &&
      return 0
  done
  return 1
}

# Is $1 the home of a JDK 17 or 21? A runtime without a compiler will not do.
is_jdk() {
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
  case "$("$1/bin/java" -version 2>&1)" in
    *'version "17'[.\"]* | *'version "21'[.\"]*) return 0 ;;
    *) return 1 ;;
  esac
}

# The home of the java on the PATH, through symbolic links (macOS has no readlink -f).
java_home_on_path() {
  java=$(command -v java) || return 1
  while [ -L "$java" ]; do
    link=$(readlink "$java")
    case "$link" in
      /*) java=$link ;;
      *) java=$(dirname "$java")/$link ;;
    esac
  done
  dirname "$(dirname "$java")"
}

# The first that serves: JAVA_HOME, the PATH, the places where systems put JDKs.
find_jdk() {
  for home in "${JAVA_HOME:-}" "$(java_home_on_path)" \
    /usr/lib/jvm/*17* /usr/lib/jvm/*21* /usr/lib/jvm/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home \
    /opt/homebrew/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home \
    /usr/local/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home \
    "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
    [ -n "$home" ] && is_jdk "$home" && printf '%s\n' "$home" && return 0
  done
  return 1
}

use_jdk() {
  if ! jdk=$(find_jdk); then
    if can_apt; then
      apt_install_one_of openjdk-17-jdk-headless openjdk-21-jdk-headless ||
        die "apt-get could not install a JDK: install JDK 17 or 21 and set JAVA_HOME to it."
    fi
    jdk=$(find_jdk) ||
      die "a JDK 17 or 21 is missing: install one (Debian: openjdk-17-jdk-headless) or set JAVA_HOME."
  fi
  JAVA_HOME=$jdk
  PATH=$JAVA_HOME/bin:$PATH
  export JAVA_HOME PATH
}

use_spark() {
  use_jdk
  unset SPARK_HOME
  PYSPARK_PYTHON=$PWD/.venv/bin/python
  PYSPARK_DRIVER_PYTHON=$PYSPARK_PYTHON
  export PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON
}

find_python() {
  for python in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    [ -n "$python" ] && command -v "$python" >/dev/null &&
      "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null &&
      printf '%s\n' "$python" && return 0
  done
  return 1
}

# venv makes bin/python first and bin/pip last: with pip in place it was made to its end.
make_venv() {
  [ -x .venv/bin/pip ] && .venv/bin/python -c '' 2>/dev/null && return 0
  python=$(find_python) ||
    die "Python 3.11 or later is missing: install it, or name it in PYTHON."
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    can_apt && apt_install_one_of python3-venv
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
      die "the venv module of $python is missing (Debian: apt-get install python3-venv)."
  fi
  say "making .venv"
  "$python" -m venv --clear .venv || die "$python could not make the virtual environment .venv."
}

install() {
  make_venv
  case "$*" in
    *pyspark*) say "installing into .venv: $* (Spark is 450 MB: a minute or two the first time)" ;;
    *) say "installing into .venv: $*" ;;
  esac
  .venv/bin/python -m pip install --disable-pip-version-check --use-pep517 \
    -c python/constraints.txt "$@" >&2 ||
    die "pip could not install $*; its message is above."
}

# Everything that the extra $1 of pyproject.toml needs, without Plait itself.
install_extra() {
  make_venv
  # shellcheck disable=SC2046 # one word a requirement
  install hatchling $(.venv/bin/python scripts/extra.py "$1")
}
