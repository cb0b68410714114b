#!/bin/sh
# Pushes audit entries and members to the admin API with curl alone, as
# contrib/ingest does. A request that the server can't accept right now is sent again
# with the same Idempotency-Key, so nothing is added twice.
#
# usage: contrib/ingest.sh ORG [ENTRIES [MEMBERS]]
#
# SOCKET is the server's admin socket; default: ./teamdata.db.sock
set -eu

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
  sed -n 's/^# \(usage:\)/\1/p' "$0" >&2
  exit 2
fi
org=$1 entries=${2:-5000} members=${3:-100}
socket=${SOCKET:-teamdata.db.sock}
run=run-$(date +%s)-$$

if [ ! -S "$socket" ]; then
  echo "ingest.sh: there is no socket $socket; start the server, or name its socket in SOCKET" >&2
  exit 1
fi

# post PATH IDEMPOTENCY-KEY sends the JSON from its standard input. On an error it
# prints the server's answer, which says what is wrong.
post() {
  answer=$(curl -sS --fail-with-body --max-time 30 --retry 5 --retry-connrefused \
    --unix-socket "$socket" -H "Idempotency-Key: $2" \
    -H 'Content-Type: application/json' --data-binary @- \
    "http://teamdata/admin/v1/orgs/$org$1") || {
    echo "ingest.sh: $answer" >&2
    exit 1
  }
}

from=1
while [ "$from" -le "$entries" ]; do
  to=$((from + 999))
  [ "$to" -le "$entries" ] || to=$entries
  {
    printf '{"entries":['
    seq -f "{\"action\":\"invoice.paid\",\"targetId\":\"$run-%07.0f\"}" "$from" "$to" | paste -sd , -
    printf ']}'
  } | post /audit-log/batch "$run-$from-entries"
  from=$((to + 1))
done

member=1
while [ "$member" -le "$members" ]; do
  printf '{"userId":"%s-%07d","role":"member"}' "$run" "$member" | post /members "$run-$member-member"
  member=$((member + 1))
done

echo "$entries audit entries and $members members were pushed; they are named $run-…"
