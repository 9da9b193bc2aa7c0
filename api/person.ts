/** Readable names of the users of a cluster. */

/** Kubernetes does not limit user names; longer ones are cut in records. */
export const MAX_USER_NAME = 512;

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The readable name of a user: for a service account its name and namespace. */
export function personName(username: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  return name === undefined ? username : `${name} (service account of ${namespace})`;
}

/** The namespace of a service account; undefined: the user is none. */
export function namespaceOfAccount(username: string): string | undefined {
  return SERVICE_ACCOUNT.exec(username)?.[1];
}

/** A user of an OpenID Connect provider with the default prefix of the API server. */
const OF_ISSUER = /^https?:\/\/[^#]+#(.+)$/;

/**
 * The short name of a user, for narrow places. It may be ambiguous: show the full name, too, for example in a
 * tooltip. It says that it is a service account, since a person may have the same name: at the end, where
 * narrow places cut.
 */
export function shortPersonName(username: string, namespace: string): string {
  const [, of, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  if (name === undefined) return OF_ISSUER.exec(username)?.[1] ?? username;
  return `${of === namespace ? '' : `${of}:`}${name} (service account)`;
}
