/** Deterministic names of child objects, cut and hashed to the limit of a kind. Also works in browsers. */

/** A short, stable hash for names (FNV-1a, 64 bit, base 36). Not cryptographic. */
export function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36).padStart(13, '0').slice(-10);
}

/** `<base>-<suffix>`. If that is longer than the limit, the base is cut and followed by its hash. */
export function childName(base: string, suffix: string, limit = 63): string {
  const whole = `${base}-${suffix}`;
  if (whole.length <= limit) return whole;
  const room = limit - suffix.length - 12;
  return `${base.slice(0, room).replace(/[-.]+$/, '')}-${shortHash(base)}-${suffix}`;
}

/** Of the WebhookRoute of a listening test run. No workflow has a name of more than 63 characters. */
const OF_TEST_RUN = '.listening.testruns.windlass.dev';

/** The name of the WebhookRoute of the listening test run with this UID. No workflow can have it. */
export function testRouteName(uid: string): string {
  return `${uid}${OF_TEST_RUN}`;
}

/** The name of the ControllerRevision of a revision. `canonical`: its canonical JSON. */
export function revisionName(workflow: string, canonical: string): string {
  return childName(workflow, shortHash(canonical));
}
