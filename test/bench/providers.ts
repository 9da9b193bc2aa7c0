/**
 * What a poll of one account of a provider costs, as a poll pod makes it: where nothing happened, and where
 * one thing did.
 */
import { keysOf } from '../../store/keys.ts';
import type { PollPods, Took } from '../support/runner/pollPods.ts';
import type { Driver } from '../support/conformance/provider.ts';
import { median, type Figure } from './report.ts';

const ROUNDS = 5;
const UID = 'uid-orders';

type Poll = Took & { asked: number };

/**
 * Requests are counted where they pass on their way to the provider; by IMAP the connection and each command
 * is one.
 */
export async function benchmarkPolls(pods: PollPods, driver: Driver): Promise<Figure[]> {
  const provider = await driver.start();
  const account = await provider.account();
  try {
    const place = await pods.createPlace();
    await pods.watch(place, { uid: UID, kind: driver.kind, ...account });
    let happened = 0;

    async function poll(events: number): Promise<Poll> {
      for (let n = 0; n < events; n += 1) await account.add(`event-${(happened += 1)}`);
      await pods.makeDue(place, UID);
      account.proxy.fail(undefined);
      const took = await pods.pod(place);
      const asked = account.proxy.requests();
      const runs = Number(await pods.conn.command('zcard', keysOf(place.project).runs(UID)));
      if (runs !== happened) throw new Error(`${driver.title}: ${happened} events started ${runs} runs`);
      return { ...took, asked };
    }

    // The first one brings nothing but where the account is.
    await poll(0);
    const nothing: Poll[] = [];
    const something: Poll[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      nothing.push(await poll(0));
      something.push(await poll(1));
    }
    return figuresOf(driver.title, nothing, something);
  } finally {
    await account.close();
    await provider.stop();
  }
}

const MEASURED = [
  ['asked', 'requests to the provider'],
  ['cpuMs', 'ms of CPU'],
  ['memoryMiB', 'MiB'],
] as const;

function figuresOf(title: string, nothing: Poll[], something: Poll[]): Figure[] {
  return MEASURED.flatMap(([field, unit]) => {
    const [base, value] = [nothing, something].map((polls) => median(polls.map((poll) => poll[field])));
    const to = `${title}, nothing new`;
    return [
      { name: to, value: base ?? Number.NaN, unit },
      {
        name: `${title}, one event`,
        value: value ?? Number.NaN,
        unit,
        ratio: { to, value: (value ?? Number.NaN) / (base ?? Number.NaN) },
      },
    ];
  });
}
