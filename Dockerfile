# The image is the program and nothing else: no shell, no package manager, no files to
# patch. `make image` puts into rootfs, in the build context, the program, linked
# statically, and an empty tmp that anybody may write to. Nothing is downloaded.
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

COPY rootfs/ /
USER 65532:65532
ENV HOME=/tmp
WORKDIR /repository
ENTRYPOINT ["/preadmit"]
