/**
 * The auth schemes of webhooks, the validation of their secrets, and the Secret with verification material
 * that the operator writes for the gateway: one per project, with an entry for each workflow. No input or
 * output.
 */

import { PLATFORMS, type Platform } from './credential.ts';
import { parseOrUndefined } from './parseOrUndefined.ts';

export const AUTH_SCHEMES = ['hmac', 'standardWebhooks', 'github', 'bearer', 'basic'] as const;
export type AuthScheme = (typeof AUTH_SCHEMES)[number];

/** The use of a key: an auth scheme of webhooks, or the messages of a bot. */
export type KeyScheme = AuthScheme | Platform;

/** The Secret of each project that holds the verification material. The gateway reads no other Secret. */
export const WEBHOOKS = 'windlass-webhooks';

/** The longest key, in bytes. All webhooks of a project share one Secret. */
const LONGEST_KEY = 4_096;
const STANDARD_PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export type Usable = { ok: true; key: Uint8Array } | { ok: false; why: string };

/** The key of a scheme from the value of a Secret key, or why the value is unusable. */
export function usableKey(scheme: KeyScheme, value: Uint8Array): Usable {
  if (value.length === 0) return unusable('is empty');
  if (value.length > LONGEST_KEY) return unusable(`is longer than ${LONGEST_KEY} bytes`);
  if (scheme === 'standardWebhooks') return standardKey(value);
  const hasControl = value.some((byte) => byte < 0x20 || byte === 0x7f);
  // No header can carry control characters, so no caller could ever match. Usually it is a line break at the
  // end.
  if (hasControl && (scheme === 'bearer' || scheme === 'basic'))
    return unusable('has a line break or another control character, which no caller can send');
  if (hasControl && PLATFORMS.some((platform) => platform === scheme))
    return unusable(
      'has a line break or another control character, which tokens and signing secrets never have',
    );
  return { ok: true, key: value };
}

/**
 * Standard Webhooks 1.0.0, "Signature scheme": base64 after the prefix `whsec_`, which libraries make
 * optional.
 */
function standardKey(value: Uint8Array): Usable {
  const text = Buffer.from(value).toString('latin1').trim();
  const encoded = text.startsWith(STANDARD_PREFIX) ? text.slice(STANDARD_PREFIX.length) : text;
  if (encoded === '' || !BASE64.test(encoded))
    return unusable(`is not a secret of Standard Webhooks: "${STANDARD_PREFIX}" and base64`);
  return { ok: true, key: Buffer.from(encoded, 'base64') };
}

function unusable(why: string): Usable {
  return { ok: false, why };
}

/**
 * The name of an entry. `material` changes with the keys, so that a route names exactly the keys that verify
 * its callers.
 */
export function entryName(workflowUid: string, material: string): string {
  return `${workflowUid}.${material}`;
}

/** The workflow and the material in the name of an entry; undefined for another name. */
export function parseEntryName(name: string): { uid: string; material: string } | undefined {
  const [, uid, material] = /^([0-9a-zA-Z-]{1,64})\.([0-9a-f]{16})$/.exec(name) ?? [];
  return uid === undefined || material === undefined ? undefined : { uid, material };
}

/** Serializes the keys of an entry. */
export function encodeKeys(keys: readonly Uint8Array[]): string {
  return JSON.stringify(keys.map((key) => Buffer.from(key).toString('base64')));
}

/**
 * Parses the keys of an entry; undefined if the text is malformed or a key is empty: then every caller is
 * refused.
 */
export function decodeKeys(text: string): Uint8Array[] | undefined {
  const parsed = parseOrUndefined(text);
  if (!Array.isArray(parsed) || parsed.length === 0) return undefined;
  const keys = parsed.map((key) =>
    typeof key === 'string' && BASE64.test(key) ? Buffer.from(key, 'base64') : Buffer.alloc(0),
  );
  return keys.every((key) => key.length > 0) ? keys : undefined;
}
