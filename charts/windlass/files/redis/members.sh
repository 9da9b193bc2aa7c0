# What the scripts of replicated members share. Environment: MEMBERS, the host names of all three, the first one first; SELF, the own
# one; PORT and SENTINEL_PORT; PRIMARY_NAME, by which sentinels know the primary; DATA, the volume; RUN, the folder that the pod's
# containers share; TLS_FILES and TLS_AUTHORITY, with TLS the folder of tls.crt and tls.key and the file of the authority.
set -eu
umask 077
ACCOUNT=windlass-member

# Constant messages, for the log of the container.
log() {
  printf '{"level":"%s","time":"%s","program":"run-store-member","msg":"%s"}\n' "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$2"
}

# Logs a message unless it was the last one.
log_once() {
  [ "${logged:-}" = "$2" ] || log "$1" "$2"
  logged=$2
}

member_password() { cat "$RUN/member-password"; }

# Calls the Redis of this pod.
call_redis() {
  REDISCLI_AUTH=$(member_password) redis-cli -s "$RUN/redis.sock" --user "$ACCOUNT" "$@" 2> /dev/null
}

# Prints the member that the sentinel of a member names as the primary; "none" where it knows none; nothing where it does not answer.
primary_of_sentinel() {
  answer=$(timeout 2 redis-cli -h "$1" -p "$SENTINEL_PORT" ${TLS_FILES:+--tls --cacert "$TLS_AUTHORITY"} \
    sentinel get-master-addr-by-name "$PRIMARY_NAME" 2> /dev/null) || return 0
  case $answer in '') echo none ;; esac
  for member in $MEMBERS; do
    case $answer in "$member
$PORT") echo "$member" ;; esac
  done
}

# Prints the member that more than half of the sentinels name as the primary.
agreed_primary() {
  for asked in $MEMBERS; do primary_of_sentinel "$asked"; done | sort | uniq -c | while read -r count named; do
    if [ "$named" != none ] && [ "$count" -ge 2 ]; then echo "$named"; fi
  done
}
