/** Parses claim tokens: `<runner>/<group of the run>/<random>`. The store compares the whole token. */
import type { RunGroup } from '../store/groups.ts';

/** The runner that has the claim. */
export function holderOf(token: string): string {
  return token.slice(0, token.lastIndexOf('/', token.lastIndexOf('/') - 1));
}

/** The group of the run that is claimed. */
export function groupOfToken(token: string): RunGroup {
  return token.split('/').at(-2) ?? '';
}
