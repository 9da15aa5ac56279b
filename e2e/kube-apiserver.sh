#!/bin/sh
# Usage: kube-apiserver.sh MINOR FILE
#
# Builds the kube-apiserver of the latest release of a minor version, like 1.35, on the module
# proxy, in a module of its own.
set -eu
minor=$1
file=$(realpath -m "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod GOWORK=off
version=$(go list -m -versions k8s.io/kubernetes | tr ' ' '\n' | grep "^v${minor}\.[0-9]*$" | tail -n 1)
[ -n "$version" ] || { echo "there is no release of Kubernetes $minor" >&2; exit 2; }
go mod init kube-apiserver 2> /dev/null
gomod=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
modules="k8s.io/kubernetes@$version"
# The staging modules, except the samples, which nothing needs.
for module in $(sed -n 's,^\t*\(k8s.io/[a-z-]*\) => ./staging.*,\1,p' "$gomod" | grep -v /sample-); do
	modules="$modules $module@v0.${version#v1.}"
done
go get $modules
go build -o "$file" k8s.io/kubernetes/cmd/kube-apiserver
