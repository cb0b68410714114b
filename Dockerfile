# One static binary on an empty root, for a user without rights. The root may be
# read-only: all that is written is in the volume.
#
#   docker build --build-arg VERSION=v1.2.3 -t teamdata .
#
# The image that builds is pinned by its exact version. To pin it by digest, too, look the
# digest up in a registry that you trust: --build-arg GO_IMAGE=golang@sha256:…
ARG GO_IMAGE=golang:1.26.11-bookworm
FROM $GO_IMAGE AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY main.go ./
COPY admin admin
COPY app app
COPY cli cli
COPY client client
COPY delivery delivery
COPY docs docs
COPY internal internal
COPY server server
COPY store store
COPY wire wire
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.buildVersion=$VERSION" -o /out/teamdata .
RUN mkdir -m 0700 /out/data
COPY LICENSE ./
COPY .ci/licenses .ci/licenses
RUN .ci/licenses /out/teamdata /out/licenses

FROM scratch
ARG VERSION=
LABEL org.opencontainers.image.title="teamdata"
LABEL org.opencontainers.image.description="The members, audit log, API keys and webhooks of your product's customers, or of your own team: an API and a settings page, as one binary on one file"
LABEL org.opencontainers.image.licenses="Apache-2.0"
LABEL org.opencontainers.image.version="$VERSION"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/licenses /licenses
COPY --from=build /out/teamdata /teamdata
COPY --from=build --chown=65532:65532 /out/data /data
ENV TEAMDATA_DATA=/data/teamdata.db
ENV TEAMDATA_LISTEN=0.0.0.0:8443
USER 65532:65532
VOLUME /data
EXPOSE 8443
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s CMD ["/teamdata", "healthcheck"]
ENTRYPOINT ["/teamdata"]
CMD ["serve"]
