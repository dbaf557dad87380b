#!/bin/sh
# Runs a command where nothing but this machine can be reached: it has loopback, an address of its own in a network that
# is nobody's (192.0.2.10), and the name by which containers call their host, which leads to another loopback address.
#   sh alone.sh python -m pytest tests/real/matrix/test_programs.py
exec unshare --map-root-user --net --mount sh -c '
set -e
ip link set lo up
ip addr add 192.0.2.10/32 dev lo
hosts=$(mktemp)
{ cat /etc/hosts; echo "127.0.0.2 host.docker.internal"; } > "$hosts"
mount --bind "$hosts" /etc/hosts
rm "$hosts"
exec "$@"' sh "$@"
