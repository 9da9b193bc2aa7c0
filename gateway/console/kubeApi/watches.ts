/** The body of `POST /console/live`: watches, checked like any other request to the Kubernetes API. */
import * as z from 'zod';
import type { ProblemCode } from '../../contract/problems.ts';
import { checkRequest, requestTarget } from './allowlist.ts';
import { acceptHeader } from './forms.ts';

/** A watch request to the API server. */
export type Watch = { id: string; path: string; accept: string };

/** Of one stream. */
export const MAX_WATCHES = 32;

const body = z.strictObject({
  watches: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/),
        path: z.string().max(1_024),
        query: z.record(z.string(), z.string().max(4_096)).optional(),
        table: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(MAX_WATCHES),
});
type Asked = z.infer<typeof body>['watches'][number];

/** The watches, each for `seconds`, or the problem. Empty parameters are dropped. */
export function readWatches(value: unknown, seconds: number): Watch[] | ProblemCode {
  const parsed = body.safeParse(value);
  if (!parsed.success) return 'bad-watches';
  const { watches } = parsed.data;
  if (new Set(watches.map(({ id }) => id)).size < watches.length) return 'bad-watches';
  const read = watches.map((asked) => watchOf(asked, seconds));
  return read.every((watch) => watch !== undefined) ? read : 'kube-path-refused';
}

function watchOf({ id, path, query = {}, table = false }: Asked, seconds: number): Watch | undefined {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const parameters = new URLSearchParams([
    ...given,
    ['watch', 'true'],
    ['allowWatchBookmarks', 'true'],
    ['timeoutSeconds', String(seconds)],
  ]);
  // A path with its own parameters would have two queries.
  const watch = path.includes('?') ? undefined : checkRequest('GET', `${path}?${parameters.toString()}`);
  return (
    watch && { id, path: requestTarget(watch), accept: acceptHeader(table ? 'table' : 'object', 'watch') }
  );
}
