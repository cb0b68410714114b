#!/bin/sh
# dpkg calls this with "remove", rpm with 0, if no other version takes this one's place.
set -e
case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac
[ -d /run/systemd/system ] || exit 0

# The socket first, which would start the service again.
systemctl disable --now teamdata-audit.service teamdata.socket teamdata.service
for node in $(systemctl list-units --plain --no-legend --full 'teamdata@*.service' | cut -d ' ' -f 1); do
  systemctl disable --now "$node"
done
