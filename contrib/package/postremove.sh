#!/bin/sh
# dpkg calls this with "remove" and later "purge", rpm with 0 if no version is left.
set -e
case "$1" in
remove | purge | 0) ;;
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ -d /var/lib/teamdata ]; then
  echo "teamdata: the data is kept in /var/lib/teamdata, and so are your files in /etc/teamdata."
  echo "teamdata: to delete the data for good: rm -r /var/lib/teamdata && userdel teamdata"
fi
