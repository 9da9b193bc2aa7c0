/** How the users of a cluster are named where people read it. */

/** Names of users have no limit in Kubernetes; what is longer is not recorded whole. */
export const MAX_USER_NAME = 512;

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** A user's name for people: of a service account what its creator called it, and where it is. */
export function personName(username: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  return name === undefined ? username : `${name} (service account of ${namespace})`;
}
