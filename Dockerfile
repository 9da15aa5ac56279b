# The image is the program and nothing else: no shell, no package manager, no files to
# patch. `docker build .` compiles the program, on the machine's own processor whatever
# --platform asks for. `make image` replaces that stage by a directory with a program that is
# there already (--build-context program=DIR); then nothing is downloaded.
ARG GO=1.26.8

FROM --platform=$BUILDPLATFORM docker.io/library/golang:${GO}-bookworm AS program
ARG TARGETOS
ARG TARGETARCH
ENV CGO_ENABLED=0
WORKDIR /source
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The program has its version from git, unless .git is that of a worktree or a submodule.
RUN mkdir -p /rootfs/tmp && chmod 1777 /rootfs/tmp && \
    git rev-parse --git-dir || export GOFLAGS=-buildvcs=false; \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags '-s -w' -o /rootfs/preadmit ./cmd/preadmit

FROM scratch
ARG VERSION=devel
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="preadmit" \
      org.opencontainers.image.description="What will the cluster's API server say to this change of a GitOps repository?" \
      org.opencontainers.image.url="https://github.com/preadmit/preadmit" \
      org.opencontainers.image.source="https://github.com/preadmit/preadmit" \
      org.opencontainers.image.documentation="https://github.com/preadmit/preadmit/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"

COPY --from=program /rootfs/ /
USER 65532:65532
ENV HOME=/tmp
WORKDIR /repository
ENTRYPOINT ["/preadmit"]
