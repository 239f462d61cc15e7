# An image of a package that `make dist` made: docker build --tag storebench . (docs/building.md, "An image")
FROM debian:trixie-slim
COPY dist/storebench_*.deb /tmp/
RUN dpkg -i /tmp/storebench_*_"$(dpkg --print-architecture)".deb && rm /tmp/storebench_*.deb
# Stores and results belong here, in a volume or a directory of the host: the container's own file system has layers, and is not the host's.
WORKDIR /data
VOLUME /data
ENTRYPOINT ["storebench"]
CMD ["--help"]
