/**
 * Our programs as the image has them, each in one file: from hundreds of sources a program takes three times
 * the processor time to start.
 */
import { join } from 'node:path';
import { programFiles } from '../../../images/bundle.ts';
import { builtFolder } from './builtFolder.ts';

const SOURCES = ['api', 'gateway', 'images', 'kube', 'nodes', 'operator', 'runner', 'runs', 'store'];

const folder = await builtFolder({
  kind: 'programs',
  sources: SOURCES,
  build: () => programFiles('windlass'),
});

export type ProgramName = 'gateway' | 'operator' | 'runner' | 'tick' | 'poll';

/** The file to start Node with. */
export function programFile(name: ProgramName): string {
  return join(folder, 'app', `${name}.mjs`);
}
