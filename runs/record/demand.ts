/** The demand of a project for writes of records: its write budget, and how many runs wait. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';

export type RecordDemand = {
  /** Writes per second that the project may make now; undefined where it is not open. */
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
