/** `windlass version`. */
import packageFile from '../../package.json' with { type: 'json' };
import { GROUP, VERSION } from '../../api/group.ts';
import type { Invocation } from '../shared/command.ts';
import { EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import type { Terminal } from '../shared/terminal.ts';

/** Prints the version of this program, of the API that it knows, and of Node.js. */
export async function execute({ options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { version } = packageFile;
  const result = { version, apiVersion: `${GROUP}/${VERSION}`, node: process.version };
  const formatted = await formatResult(options['output'], result, version);
  terminal.print(formatted ?? `windlass ${version}, ${result.apiVersion}, Node.js ${process.version}`);
  return EXIT.ok;
}
