# Runs the Redis of a replicated member as what the sentinels say: as the primary, or as a replica of it. It waits until more than
# half of them name the same primary.
# The file `complete` on the volume says that the member has had all data. Without it, it never starts as the primary, and no sentinel
# promotes it, since others would copy its emptiness.
# Arguments: those of Redis.
. "${0%/*}/members.sh"

# Completes an empty member once it has copied the primary, to its disk, too.
complete_when_copied() {
  copied='master_link_status:up|aof_rewrite_in_progress:0|aof_rewrite_scheduled:0|aof_last_bgrewrite_status:ok'
  until [ "$(call_redis info | tr -d '\r' | grep -c -x -E "$copied")" = 4 ]; do sleep 1; done
  touch "$DATA/complete"
  call_redis config set replica-priority 100
}

# The first process of a container gets no signal that it does not ask for.
trap 'exit 0' TERM INT
rm -f "$RUN/redis.sock"
while :; do
  primary=$(agreed_primary)
  if [ -z "$primary" ]; then
    log_once warn 'waiting for sentinels that agree on the primary'
  elif [ "$primary" = "$SELF" ] && [ ! -e "$DATA/complete" ]; then
    log_once warn 'primary has no data, waiting for a failover'
  else
    break
  fi
  sleep 0.3
done

{
  echo "masteruser $ACCOUNT"
  echo "masterauth $(member_password)"
  echo "replica-announce-ip $SELF"
  echo "replica-announce-port $PORT"
  if [ "$primary" != "$SELF" ]; then echo "replicaof $primary $PORT"; fi
  if [ ! -e "$DATA/complete" ]; then echo 'replica-priority 0'; fi
  if [ -n "${TLS_FILES:-}" ]; then
    echo 'tls-replication yes'
    echo "tls-ca-cert-file $TLS_AUTHORITY"
  fi
} > "$RUN/redis.conf"
if [ ! -e "$DATA/complete" ]; then
  log info 'copying the data of the primary'
  complete_when_copied &
fi
exec redis-server "$RUN/redis.conf" "$@"
