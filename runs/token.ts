/** What a claim token tells: `<runner>/<group of the run>/<random>`. The store compares it as a whole. */
import type { RunGroup } from '../store/groups.ts';

/** The runner that holds the claim. */
export function holderOf(token: string): string {
  return token.slice(0, token.lastIndexOf('/', token.lastIndexOf('/') - 1));
}

/** The group of the run that is claimed. */
export function groupOfToken(token: string): RunGroup {
  return token.split('/').at(-2) ?? '';
}
