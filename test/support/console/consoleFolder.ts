/** The console as it is served. */
import { bundledConsole } from '../../../images/console.ts';
import { builtFolder } from '../process/builtFolder.ts';

/** The folder of its files, which other processes serve, too. */
export function consoleFolder(): Promise<string> {
  return builtFolder({
    kind: 'console',
    sources: ['api', 'console', 'docs', 'examples', 'images', 'kube', 'nodes', 'runs', 'store'],
    build: async () => (await bundledConsole()).map(({ path, content }) => ({ to: path, content })),
  });
}
