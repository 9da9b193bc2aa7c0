/**
 * Compares the poller of drives with a plain list of the files after each change that users make to files and
 * folders.
 */
import { expect, test } from 'vitest';
import { startDrive, startOneDrive, type CloudDrive } from '../../../test/support/nodes/cloudDrives.ts';
import { fileEventNames } from '../../../test/support/nodes/polls.ts';

const WATCHED = 'in';

/** https://en.wikipedia.org/wiki/Linear_congruential_generator, with the numbers of Numerical Recipes. */
function createChoice(seed: number) {
  let state = seed;
  return <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return from[Math.floor((state / 2 ** 32) * from.length)] as T;
  };
}

/** What is there: the parent of everything, and the versions of files. */
function createModel(store: CloudDrive, choose: <T>(from: readonly T[]) => T) {
  const { top } = store;
  const parents = new Map<string, string>([[WATCHED, top]]);
  const versions = new Map<string, number>();
  let count = 0;
  const isBelow = (id: string, above: string): boolean =>
    id === above || (id !== top && isBelow(parents.get(id) ?? top, above));
  const folders = () => [...parents.keys()].filter((id) => !versions.has(id));
  const files = () => [...versions.keys()];
  const others = () => [...parents.keys()].filter((id) => id !== WATCHED);
  const put = (isFolder: boolean) => {
    const id = `${isFolder ? 'folder' : 'file'} ${(count += 1)}`;
    const parent = choose([top, ...folders(), ...folders()]);
    parents.set(id, parent);
    if (!isFolder) versions.set(id, count);
    store.put(id, parent, isFolder);
  };
  const remove = (id: string) => {
    for (const each of [...parents.keys()].filter((one) => isBelow(one, id))) {
      parents.delete(each);
      versions.delete(each);
      store.remove(each);
    }
  };
  const actions: (() => void)[] = [
    () => put(false),
    () => put(false),
    () => put(true),
    () => {
      const id = choose(others());
      const parent = choose([top, ...folders()]);
      if (id === undefined || isBelow(parent, id)) return;
      parents.set(id, parent);
      store.move(id, parent);
    },
    () => {
      const id = choose(files());
      if (id === undefined) return;
      versions.set(id, (count += 1));
      store.write(id);
    },
    () => {
      const id = choose(others());
      if (id !== undefined && !isBelow(WATCHED, id)) remove(id);
    },
    () => store.expireTokens(),
  ];
  const watched = () => new Map([...versions].filter(([id]) => isBelow(parents.get(id) ?? top, WATCHED)));
  const passing = new Set<string>();
  return {
    act: () => {
      choose(actions)();
      for (const id of watched().keys()) passing.add(id);
    },
    /** The files that are watched, with their versions. */
    watched,
    /** Those that were at some time since this was asked for last. */
    passed: () => {
      const found = new Set(passing);
      passing.clear();
      return found;
    },
  };
}

test.each([
  ['Google Drive', startDrive, false],
  ['OneDrive', startOneDrive, true],
] as const)(
  'after any changes to files and folders of a %s, each new version is an event, and nothing else',
  async (_name, start, tellsAll) => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const choose = createChoice(seed);
      const drive = await start({ pageSize: choose([1, 2, 5, 100]) });
      drive.put(WATCHED, drive.top, true);
      const model = createModel(drive, choose);
      for (let n = 0; n < 12; n += 1) model.act();
      const { poll } = drive.polls({ folderId: WATCHED, includeSubfolders: true });
      let known: ReadonlyMap<string, number> | undefined;
      for (let step = 0; step < 8; step += 1) {
        const told: string[] = [];
        for (let more = true; more; ) {
          const polled = await poll(choose([{}, { enough: AbortSignal.abort() }, { limit: 1 }]));
          told.push(...fileEventNames(polled));
          ({ more } = polled);
        }
        const now = model.watched();
        const expected = [...now]
          .filter(([id, version]) => known !== undefined && known.get(id) !== version)
          .map(([id]) => `${known?.has(id) ? 'modified' : 'added'} ${id}`);
        const passed = model.passed();
        // What was there for a moment only may be told as well, where changes come one by one.
        const others = told.filter((each) => !expected.includes(each));
        const isPassing = (each: string) => {
          const [, id = ''] = /^\w+ (.*)$/.exec(each) ?? [];
          return tellsAll && passed.has(id) && !now.has(id);
        };
        expect({ seed, step, others: others.filter((each) => !isPassing(each)) }).toEqual({
          seed,
          step,
          others: [],
        });
        const rest = told.filter((each) => expected.includes(each));
        expect({ seed, step, told: rest.toSorted() }).toEqual({ seed, step, told: expected.toSorted() });
        known = now;
        for (let n = choose([0, 1, 2, 5]); n > 0; n -= 1) model.act();
      }
      await drive.close();
    }
  },
);
