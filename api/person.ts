/** How the users of a cluster are named where people read it. */

/** Names of users have no limit in Kubernetes; what is longer is not recorded whole. */
export const MAX_USER_NAME = 512;

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** A user's name for people: of a service account what its creator called it, and where it is. */
export function personName(username: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  return name === undefined ? username : `${name} (service account of ${namespace})`;
}

/** As the API server writes a user of an OpenID Connect provider unless it was told another prefix. */
const OF_ISSUER = /^https?:\/\/[^#]+#(.+)$/;

/** The part of a user's name that tells it from others, for where there is little room; the whole name belongs beside it. */
export function shortPersonName(username: string, namespace: string): string {
  const [, of, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  if (name === undefined) return OF_ISSUER.exec(username)?.[1] ?? username;
  return of === namespace ? `sa ${name}` : `sa ${of}:${name}`;
}
