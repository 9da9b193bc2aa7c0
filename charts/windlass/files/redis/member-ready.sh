# Fails unless this member has all data and is the primary, or a replica in sync: until then no other member should be taken away.
. "${0%/*}/members.sh"
[ -e "$DATA/complete" ] && call_redis info replication | grep -q -e '^role:master' -e '^master_link_status:up'
