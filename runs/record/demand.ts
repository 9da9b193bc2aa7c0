/** What the write budget of a project is measured by: the share that it has, and how much waits to be recorded. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';

export type RecordDemand = {
  /** Writes a second that the project may make now; undefined where it has no place in the store. */
  rate: number | undefined;
  /** Runs whose record is behind. */
  waiting: number;
};

/** Reads it, in one round trip. */
export function readDemand(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<RecordDemand | Unavailable> {
  const { meta, unrecorded } = keysOf(project);
  return orUnavailable(async () => {
    const [rate, waiting] = (await Promise.all([
      conn.command('hget', meta, 'rate'),
      conn.command('zcard', unrecorded),
    ])) as [string | null, number];
    return { rate: rate === null ? undefined : Number(rate), waiting };
  });
}
