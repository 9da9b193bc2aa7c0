# Fails if Redis has started and does not answer. Any answer counts, also that it is reading its log.
. "${0%/*}/members.sh"
[ ! -S "$RUN/redis.sock" ] || redis-cli -s "$RUN/redis.sock" ping
