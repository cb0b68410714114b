#!/bin/sh
# dpkg calls this with "configure", rpm with the number of installed versions.
set -e
case "$1" in
configure | [1-9]*) ;;
*) exit 0 ;;
esac

state=/var/lib/teamdata
if ! id teamdata >/dev/null 2>&1; then
  useradd --system --user-group --no-create-home --home-dir $state --shell /usr/sbin/nologin --comment teamdata teamdata
fi
if ! [ -d $state ]; then
  install -d -m 0700 -o teamdata -g teamdata $state
fi

# A container may have no systemd.
[ -d /run/systemd/system ] || exit 0

again() {
  systemctl try-restart "$1" || echo "teamdata: $1 was not restarted; to see why: journalctl -u $1" >&2
}
systemctl daemon-reload
again teamdata.service
# One node after the other, so that the others keep running.
for node in $(systemctl list-units --plain --no-legend --full 'teamdata@*.service' | cut -d ' ' -f 1); do
  again "$node"
done
again teamdata-audit.service
