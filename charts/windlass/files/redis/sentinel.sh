# Runs the sentinel of a replicated member. What it knows stays on the volume. One that knows no primary waits until the sentinels of
# both other members answer, and takes over what they know. Only if none of them knows a primary either, this is the first start of
# all members, or all have lost their volumes: the first member then begins as the primary, with what its volume has.
# Environment: DOWN_AFTER_MS and FAILOVER_TIMEOUT_MS of the primary. Arguments: further ones of Redis.
. "${0%/*}/members.sh"
config=$DATA/sentinel.conf

# The member that this sentinel knew last as the primary.
known_primary() {
  if [ -e "$config" ]; then sed -n "s/^sentinel monitor $PRIMARY_NAME \([^ ]*\) .*/\1/p" "$config"; fi
}

# The ID of the sentinel of a member, by its name, so that one whose volume was lost is not counted as a further one.
id_of() {
  sum=$(printf '%s' "$1" | sha1sum)
  printf '%s' "${sum%% *}"
}

# Writes the configuration for that primary, or for none, and keeps what the sentinel knows of failovers. All members are in it: sentinels
# would otherwise find each other only while the primary runs.
write_config() {
  epochs=
  if [ -n "$(known_primary)" ]; then
    epochs=$(sed -n -E '/^sentinel (config-epoch|leader-epoch|current-epoch) /p' "$config")
  fi
  {
    echo "${TLS_FILES:+tls-}port $SENTINEL_PORT"
    if [ -n "${TLS_FILES:-}" ]; then
      printf '%s\n' 'port 0' "tls-cert-file $RUN/sentinel.crt" "tls-key-file $RUN/sentinel.key" \
        "tls-ca-cert-file $TLS_AUTHORITY" 'tls-auth-clients no' 'tls-replication yes'
    fi
    printf '%s\n' "dir $DATA" "aclfile $RUN/sentinel.acl" 'protected-mode no' \
      "unixsocket $RUN/sentinel.sock" 'unixsocketperm 700' \
      "sentinel myid $(id_of "$SELF")" 'sentinel resolve-hostnames yes' 'sentinel announce-hostnames yes' \
      "sentinel announce-ip $SELF" "sentinel announce-port $SENTINEL_PORT" \
      "sentinel sentinel-user $ACCOUNT" "sentinel sentinel-pass $(member_password)"
    if [ -n "$1" ]; then
      printf '%s\n' "sentinel monitor $PRIMARY_NAME $1 $PORT 2" \
        "sentinel auth-user $PRIMARY_NAME $ACCOUNT" "sentinel auth-pass $PRIMARY_NAME $(member_password)" \
        "sentinel down-after-milliseconds $PRIMARY_NAME $DOWN_AFTER_MS" \
        "sentinel failover-timeout $PRIMARY_NAME $FAILOVER_TIMEOUT_MS" "$epochs"
      for member in $MEMBERS; do
        [ "$member" = "$1" ] || echo "sentinel known-replica $PRIMARY_NAME $member $PORT"
        [ "$member" = "$SELF" ] ||
          echo "sentinel known-sentinel $PRIMARY_NAME $member $SENTINEL_PORT $(id_of "$member")"
      done
    fi
  } > "$config.next"
  mv "$config.next" "$config"
}

# Starts the sentinel in the background.
start_sentinel() {
  write_config "$primary"
  redis-server "$config" --sentinel "$@" &
  sentinel=$!
}

stop_sentinel() {
  kill "$sentinel" 2> /dev/null || :
  wait "$sentinel" || :
}

# Prints the primary to begin with, once the sentinels of both other members answer and do not disagree.
choose_primary() {
  answers=$(for asked in $MEMBERS; do [ "$asked" = "$SELF" ] || primary_of_sentinel "$asked"; done)
  [ "$(printf '%s\n' "$answers" | grep -c .)" = 2 ] || return 0
  named=$(printf '%s\n' "$answers" | grep -v -x none | sort -u)
  case $named in
    # The first member alone decides this: it could not tell the decision of others from the loss of its own volume.
    '')
      if [ "$SELF" = "${MEMBERS%% *}" ]; then
        touch "$DATA/complete"
        echo "$SELF"
      fi
      ;;
    *'
'*) ;;
    *) echo "$named" ;;
  esac
}

copy_certificate() {
  for kind in crt key; do cat "$TLS_FILES/tls.$kind" > "$RUN/sentinel.$kind"; done
}
certificate_sum() { cat "$TLS_FILES/tls.crt" "$TLS_FILES/tls.key" | sha256sum; }

sentinel=
# The first process of a container gets no signal that it does not ask for.
trap '[ -z "$sentinel" ] || stop_sentinel; exit 0' TERM INT
used=
if [ -n "${TLS_FILES:-}" ]; then
  used=$(certificate_sum)
  copy_certificate
fi
primary=$(known_primary)
if [ -z "$primary" ]; then
  log info 'waiting for the sentinels of the other members'
  # It answers the others that it knows no primary.
  start_sentinel "$@"
  while [ -z "$primary" ]; do
    sleep 0.3
    primary=$(choose_primary)
  done
  stop_sentinel
fi
start_sentinel "$@"
# A sentinel reads its certificate only when it starts.
while kill -0 "$sentinel" 2> /dev/null; do
  sleep 2 &
  wait $!
  [ -n "$used" ] && [ "$(certificate_sum)" != "$used" ] || continue
  used=$(certificate_sum)
  for kind in crt key; do cp "$RUN/sentinel.$kind" "$RUN/sentinel.$kind.before"; done
  stop_sentinel
  copy_certificate
  primary=$(known_primary)
  start_sentinel "$@"
  sleep 2
  if kill -0 "$sentinel" 2> /dev/null; then
    log info 'sentinel uses the new TLS certificate'
  else
    log error 'sentinel refused the new TLS certificate'
    for kind in crt key; do mv "$RUN/sentinel.$kind.before" "$RUN/sentinel.$kind"; done
    start_sentinel "$@"
  fi
done
exit 1
