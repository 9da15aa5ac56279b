#!/usr/bin/env bash
# Puts preadmit in place for action.yml: the program BINARY, or the release VERSION,
# whose archive must have the checksum that the release tells, and CHECKSUM if given.
set -euo pipefail

fail() {
  echo "::error title=preadmit::$1"
  exit 2
}

if [ -n "$BINARY" ]; then
  [ -x "$BINARY" ] || fail "the input binary is not a program that can be run"
  echo "binary=$BINARY" >> "$GITHUB_OUTPUT"
  exit 0
fi

version="${VERSION#v}"
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
  fail "give the input version, like 1.2.3: the action is not used at a release"
[[ "$CHECKSUM" =~ ^([0-9a-f]{64})?$ ]] || fail "the input checksum is no SHA-256 in lower case"

case "$RUNNER_OS" in
  Linux) os=linux suffix= ;;
  macOS) os=darwin suffix= ;;
  Windows) os=windows suffix=.exe ;;
  *) fail "there is no release for the system of this runner" ;;
esac
case "$RUNNER_ARCH" in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) fail "there is no release for the processor of this runner" ;;
esac

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}
download() {
  curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$2" "$1"
}

archive="preadmit_${version}_${os}_${arch}.tar.gz"
releases=https://github.com/preadmit/preadmit/releases/download
place="$(mktemp -d "${RUNNER_TEMP:-/tmp}/preadmit-install.XXXXXX")"
download "$releases/v$version/$archive" "$place/$archive"
download "$releases/v$version/checksums.txt" "$place/checksums.txt"

actual="$(sha256 "$place/$archive")"
told="$(awk -v name="$archive" '$2 == name { print $1 }' "$place/checksums.txt")"
[ "$actual" = "$told" ] || fail "the archive $archive does not have the checksum that its release tells"
[ -z "$CHECKSUM" ] || [ "$actual" = "$CHECKSUM" ] || fail "the archive $archive does not have the checksum that the input tells"

tar -xzf "$place/$archive" -C "$place" "preadmit$suffix"
echo "binary=$place/preadmit$suffix" >> "$GITHUB_OUTPUT"
