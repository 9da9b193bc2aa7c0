# Runs before Redis and sentinel of a replicated member: writes the accounts of both, and the password by which members log in to
# each other. It follows from the password of the operator, so that all members have the same one without a further Secret.
# Arguments: those of accounts.sh; the last one only with TLS.
. "${0%/*}/members.sh"

sh "${0%/*}/accounts.sh" "$@"
password=$({ printf 'windlass-member ' && cat "$3/operator-password"; } | sha256sum)
printf '%s' "${password%% *}" > "$RUN/member-password"
hash=$(member_password | sha256sum)
# Replicas, sentinels and the scripts of members: what Redis documents for replicas and sentinels, and what completes a member.
echo "user $ACCOUNT reset on #${hash%% *} &__sentinel__:hello -@all +psync +replconf +multi +exec +slaveof +replicaof +role +info" \
  "+ping +hello +auth +subscribe +publish +client|setname +client|kill +script|kill +config|rewrite +config|set" >> "$1"
# Programs ask sentinels for the primary before they log in.
printf '%s\n' 'user default reset on nopass -@all +sentinel|get-master-addr-by-name' \
  "user $ACCOUNT reset on #${hash%% *} &* +@all" > "$RUN/sentinel.acl"
