/**
 * Collects all garbage of the calling thread with V8's last means before it gives up, which returns free
 * pages, too. Undefined without the option `--expose-gc` of Node.
 */
export function garbageCollection(): (() => void) | undefined {
  const { gc } = globalThis;
  return gc && (() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }));
}
