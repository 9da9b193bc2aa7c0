# Writes the list of accounts that Redis loads at its start: those of accounts.acl with the passwords of the mounted Secret, and the
# accounts of projects as the list on the volume has them. It runs before Redis, in the image of Redis, so that another version of
# Windlass does not restart Redis.
# Arguments: the list, accounts.acl, the folder of the passwords, and with TLS the folder that the pod's containers share, which gets
# a new password for the container that follows the certificate.
set -eu
umask 077
list=$1 accounts=$2 passwords=$3 pod=${4:-}

sha256() {
  sum=$(sha256sum)
  printf '%s' "${sum%% *}"
}

operator=$(sha256 < "$passwords/operator-password")
gateway=$(sha256 < "$passwords/gateway-password")
if [ -n "$pod" ]; then
  head -c 32 /dev/urandom | sha256 > "$pod/certificate-password"
  certificate=$(sha256 < "$pod/certificate-password")
else
  certificate=
fi

{
  # The last line ends with a newline, too, so that the next account begins a line.
  { cat "$accounts" && echo; } | sed -e '/^#/d' -e '/^$/d' \
    -e "s/ #windlass-operator / #$operator /" \
    -e "s/ #windlass-gateway / #$gateway /" \
    -e "${certificate:+s/ #windlass-certificate / #$certificate /;}/ #windlass-certificate /d"
  if [ -e "$list" ]; then sed -n '/^user windlass-pool-/p' "$list"; fi
} > "$list.next"
# Renamed into place, so that the list is whole however this ends.
mv "$list.next" "$list"
