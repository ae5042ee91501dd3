# For people who publish an image of aqmlab; labs need none of it, as aqmlab makes
# its own image (aqmlab image build). First `make release`, then
#
#   docker buildx build --platform linux/amd64,linux/arm64 --tag NAME .
#
# or, without BuildKit, docker build --build-arg TARGETARCH=amd64 --tag NAME .
FROM scratch
ARG TARGETARCH
COPY dist/aqmlab-linux-${TARGETARCH} /usr/local/bin/aqmlab
ENTRYPOINT ["/usr/local/bin/aqmlab"]
