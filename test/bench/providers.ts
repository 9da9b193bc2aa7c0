/** What a look at one account of a provider costs, as a poll pod makes it: where nothing happened, and where one thing did. */
import { keysOf } from '../../store/keys.ts';
import type { PollPods, Took } from '../support/runner/pollPods.ts';
import type { Driver } from '../support/conformance/provider.ts';
import { median, type Figure } from './report.ts';

const ROUNDS = 5;
const UID = 'uid-orders';

type Look = Took & { asked: number };

/** Requests are counted where they pass on their way to the provider; by IMAP the connection and each command is one. */
export async function looksAt(pods: PollPods, driver: Driver): Promise<Figure[]> {
  const provider = await driver.start();
  const account = await provider.account();
  try {
    const place = await pods.createPlace();
    await pods.watch(place, { uid: UID, kind: driver.kind, ...account });
    let happened = 0;

    async function look(events: number): Promise<Look> {
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
    await look(0);
    const nothing: Look[] = [];
    const something: Look[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      nothing.push(await look(0));
      something.push(await look(1));
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

function figuresOf(title: string, nothing: Look[], something: Look[]): Figure[] {
  return MEASURED.flatMap(([field, unit]) => {
    const [base, value] = [nothing, something].map((looks) => median(looks.map((look) => look[field])));
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
