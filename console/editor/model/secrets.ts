/** Finds text that looks like a key, so that it is not stored in a draft. Pure. */
import type { Draft } from './model.ts';

/**
 * What providers' keys, AWS access keys, PEM blocks and JSON Web Tokens look like. A token is found from its
 * first dot, so that the time is linear in the length of the text.
 */
const SECRET =
  /\bsk-[A-Za-z0-9_-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----|(?<=\beyJ[A-Za-z0-9_-]{8,})\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/;

const ALL_SECRETS = new RegExp(SECRET, 'g');

/**
 * Where the draft has such a text that is not published: the ID of a node, "a note" or "the workflow";
 * undefined if nowhere.
 */
export function placeOfSecret(draft: Draft, published: Draft): string | undefined {
  const known = JSON.stringify([published.spec, published.notes]);
  const isNew = (part: unknown): boolean =>
    [...JSON.stringify(part).matchAll(ALL_SECRETS)].some(([found]) => !known.includes(found));
  const pinned = Object.entries(draft.pins ?? {}).find(([, pin]) => isNew(pin));
  if (pinned) return `the pinned output of ${pinned[0]}`;
  if (Object.values(draft.notes ?? {}).some(isNew)) return 'a note';
  return draft.spec.nodes.find(isNew)?.id ?? (isNew(draft.spec) ? 'the workflow' : undefined);
}

export function hasSecret(text: string): boolean {
  return SECRET.test(text);
}
