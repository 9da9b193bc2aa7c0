/**
 * Puts routes into the table, each together with the keys that it names. A route whose keys are not here yet leaves what was
 * served before in place while they are read, so that a change of secrets refuses nobody; if they cannot be had,
 * the new route is served without them, which refuses everybody, until they can.
 */
import { objectKey, type KubeObject } from '../../kube/resource.ts';
import { createKeyReader, type Keys, type KeyReaderOptions, type Wanted } from './keyReader.ts';
import { entryOf, type RouteTable } from './table.ts';

export type RouteFeed = {
  put: (object: KubeObject) => void;
  remove: (object: KubeObject) => void;
  /** Resolves when no keys are being read. */
  settled: () => Promise<void>;
};

export type RouteFeedOptions = KeyReaderOptions & {
  table: RouteTable;
  /** Called when the table has changed. */
  onChange: () => void;
};

export function createRouteFeed({ table, onChange, ...options }: RouteFeedOptions): RouteFeed {
  const reader = createKeyReader(options);
  const known = new Map<string, { entry: string; keys: Keys }>();
  const missing = new Map<string, Wanted>();

  function serve(object: KubeObject, keys?: Keys): void {
    const { namespace, name } = object.metadata;
    if (!table.put(object, keys))
      options.log.warn({ namespace, name }, 'a WebhookRoute cannot be served as it is written');
    onChange();
  }

  function serveWithKeys(object: KubeObject, entry: string): void {
    const key = objectKey(object.metadata);
    let isClosed = !table.has(object);
    if (isClosed) serve(object);
    const wanted: Wanted = {
      namespace: object.metadata.namespace ?? '',
      entry,
      onRead: (keys) => {
        if (keys !== undefined) {
          missing.delete(key);
          known.set(key, { entry, keys });
          serve(object, keys);
        } else if (!isClosed) {
          isClosed = true;
          serve(object);
        }
      },
    };
    missing.set(key, wanted);
    reader.want(wanted);
  }

  function stopWanting(key: string): void {
    const wanted = missing.get(key);
    if (wanted !== undefined) reader.drop(wanted);
    missing.delete(key);
  }

  return {
    put: (object) => {
      const key = objectKey(object.metadata);
      const entry = entryOf(object);
      stopWanting(key);
      const held = known.get(key);
      // Keys of another entry are those of another time: they are never served under this route.
      if (held?.entry !== entry) known.delete(key);
      if (entry === undefined) serve(object);
      else if (held?.entry === entry) serve(object, held.keys);
      else serveWithKeys(object, entry);
    },
    remove: (object) => {
      const key = objectKey(object.metadata);
      stopWanting(key);
      known.delete(key);
      table.remove(object);
      onChange();
    },
    settled: () => reader.settled(),
  };
}
