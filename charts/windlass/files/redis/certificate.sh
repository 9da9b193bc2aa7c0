# Runs beside Redis when that has TLS: has Redis reload its certificate when the mounted files change. Redis keeps the certificate
# that it has unless clients accept the new one.
# Arguments: the folder of tls.crt and tls.key, the authority that clients trust, the folder that the pod's containers share, a free
# port of 127.0.0.1, and for how many checks an unchanged refused certificate is left alone (60: five minutes).
set -u
umask 077
files=$1 authority=$2 pod=$3 port=$4 patience=${5:-60}
every=5

log() {
  printf '{"level":"%s","time":"%s","program":"run-store-certificate",%s"msg":"%s"}\n' \
    "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "${3:+\"error\":\"$3\",}" "$2"
}

# The first line, as text that can stand in JSON.
line_of() { printf '%s' "$1" | tr -d '"\\\000-\037' | cut -c 1-300; }

# Starts a second Redis, empty, that shows the copied certificate to nobody but a client of this script. Sets `problem`; empty: none.
try_certificate() {
  redis-server --bind 127.0.0.1 --port 0 --tls-port "$port" --tls-auth-clients no --appendonly no --save '' \
    --tls-cert-file "$pod/tls.crt" --tls-key-file "$pod/tls.key" > "$pod/try.log" 2>&1 &
  server=$!
  problem='the certificate could not be tried'
  tries=0
  while [ "$tries" -lt 50 ]; do
    tries=$((tries + 1))
    answer=$(redis-cli -h 127.0.0.1 -p "$port" --tls --cacert "$authority" ping 2>&1)
    case $answer in
      PONG) problem= && break ;;
      *'certificate verify failed'*)
        problem='clients would refuse it: it has expired, is not valid yet, or is not signed by the authority in ca.crt' && break ;;
    esac
    if ! kill -0 "$server" 2> /dev/null; then
      reason=$(grep -i -m 1 'fail' "$pod/try.log")
      # Without process and time, which differ each time: a problem is told once.
      problem="tls.crt and tls.key cannot be used: $(line_of "${reason#*# }")"
      break
    fi
    sleep 0.1
  done
  kill -9 "$server" 2> /dev/null
  wait "$server" 2> /dev/null
}

load_certificate() {
  REDISCLI_AUTH=$(cat "$pod/certificate-password") redis-cli -s "$pod/redis.sock" --user windlass-certificate \
    config set tls-cert-file "$pod/tls.crt" tls-key-file "$pod/tls.key" 2>&1
}

# The copy is what is tried and what is loaded, whatever happens to the mounted files meanwhile.
follow_certificate() {
  for file in tls.crt tls.key; do
    # Not cp: it would keep the mode of the mounted file, so that the next copy could not be written.
    cat "$files/$file" > "$pod/$file" || return
  done
  found=$(cat "$pod/tls.crt" "$pod/tls.key" | sha256sum)
  [ "$found" != "$loaded" ] || return
  # A try starts a Redis: what was refused may be accepted once it or the authority has changed, or when it has become valid.
  shown=$(cat "$pod/tls.crt" "$pod/tls.key" "$authority" 2> /dev/null | sha256sum)
  if [ "$shown" = "$refused" ] && [ "$rest" -gt 0 ]; then
    rest=$((rest - 1))
    return
  fi
  try_certificate
  if [ -z "$problem" ]; then
    answer=$(load_certificate)
    case $answer in
      OK) loaded=$found refused= told= && log info 'reloaded the TLS certificate' && return ;;
      # Redis is starting, or has ended: the next attempt loads it.
      *'Could not connect'* | LOADING*) return ;;
    esac
    problem=$(line_of "$answer")
  fi
  [ "$told" = "$shown$problem" ] || log error 'refused the new TLS certificate' "$problem"
  refused=$shown told=$shown$problem rest=$patience
}

# The first process of a container gets no signal that it does not ask for.
trap 'exit 0' TERM INT
loaded= refused= told= rest=0
while :; do
  follow_certificate
  sleep "$every" &
  wait $!
done
