#!/bin/sh
# Installs fastdump from the wheels beside this file, without a network:
#
#   ./install.sh                      for python3, which may be that of an active environment
#   PYTHON=python3.11 ./install.sh    for another one
#   ./install.sh --user               any option of pip install
#
# What is installed already, such as numpy, stays as it is if it suits.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=${PYTHON:-python3}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

[ "$(uname -s) $(uname -m)" = "Linux @PLATFORM@" ] ||
  fail "this archive is for Linux on @PLATFORM@, and this is $(uname -s) on $(uname -m)"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || fail "there is no glibc here"
[ "${glibc#glibc 2.}" -ge @GLIBC_MINOR@ ] || fail "glibc 2.@GLIBC_MINOR@ is needed, here is $glibc"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
  fail "$python does not run; PYTHON=... names another one"
case ", @PYTHONS@," in
  *", $version,"*) ;;
  *) fail "this archive is for Python @PYTHONS@; $python is $version. PYTHON=... names another one" ;;
esac
"$python" -m pip --version >/dev/null 2>&1 ||
  fail "$python has no pip; in a virtual environment it has one: $python -m venv DIRECTORY"
(cd -- "$here" && sha256sum --check --quiet SHA256SUMS) ||
  fail "the archive is damaged or not complete: copy it again"
exec "$python" -m pip --disable-pip-version-check install --no-index --find-links "$here" "$@" \
  'fastdump[browse,parquet,report]'
