/**
 * Compares the poller of drives with a plain list of the files after each change that users make to files and
 * folders.
 */
import { expect, test } from 'vitest';
import { startDriveServer } from '../../../test/support/providers/google/driveServer.ts';
import { filePolls, fileEventsOf } from '../../../test/support/nodes/polls.ts';
import { startGraphServer } from '../../../test/support/providers/microsoft/oneDriveServer.ts';

const FOLDER = 'application/vnd.google-apps.folder';
const WATCHED = 'in';

/** A drive of which only this is known. */
type Store = {
  put(id: string, parent: string, isFolder: boolean): void;
  move(id: string, parent: string): void;
  write(id: string): void;
  remove(id: string): void;
  expireTokens(): void;
};

async function startDrive(pageSize: number) {
  const server = await startDriveServer({ pageSize });
  const store: Store = {
    put: (id, parent, isFolder) =>
      void server.put({ id, parents: [parent], ...(isFolder && { mimeType: FOLDER }) }),
    move: (id, parent) => void server.put({ id, parents: [parent] }),
    write: (id) => server.write(id),
    remove: (id) => server.remove(id),
    expireTokens: () => server.expireTokens(),
  };
  const preset = 'google' as const;
  return { store, top: 'root-folder', preset, url: server.url, close: () => server.close() };
}

async function startOneDrive(pageSize: number) {
  const server = await startGraphServer({ pageSize });
  const store: Store = {
    put: (id, parent, isFolder) => server.put({ id, parent, ...(isFolder && { folder: {} }) }),
    move: (id, parent) => server.put({ id, parentReference: { id: parent } }),
    write: (id) => server.write(id),
    remove: (id) => server.remove(id),
    expireTokens: () => server.expireTokens(),
  };
  const preset = 'microsoft' as const;
  return { store, top: 'root-id', preset, url: server.url, close: () => server.close() };
}

/** https://en.wikipedia.org/wiki/Linear_congruential_generator, with the numbers of Numerical Recipes. */
function createChoice(seed: number) {
  let state = seed;
  return <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return from[Math.floor((state / 2 ** 32) * from.length)] as T;
  };
}

/** What is there: the parent of everything, and the versions of files. */
function createModel(store: Store, top: string, choose: <T>(from: readonly T[]) => T) {
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
  'whatever is done to files and folders of a %s, each version that is new is told, and no other',
  async (_name, start, tellsAll) => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const choose = createChoice(seed);
      const { store, top, preset, url, close } = await start(choose([1, 2, 5, 100]));
      store.put(WATCHED, top, true);
      const model = createModel(store, top, choose);
      for (let n = 0; n < 12; n += 1) model.act();
      const { poll } = filePolls(
        { oauth2: { preset, clientID: 'client', apiURL: url } },
        { access_token: 'good-token' },
        { folderId: WATCHED, includeSubfolders: true },
      );
      let known: ReadonlyMap<string, number> | undefined;
      for (let step = 0; step < 8; step += 1) {
        const told: string[] = [];
        for (let more = true; more; ) {
          const polled = await poll(choose([{}, { enough: AbortSignal.abort() }, { limit: 1 }]));
          told.push(...fileEventsOf(polled).map(({ event, file }) => `${event} ${String(file['id'])}`));
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
      await close();
    }
  },
);
