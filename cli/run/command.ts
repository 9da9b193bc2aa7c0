/** `windlass run`: of files with `--local`, else on the cluster. */
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';

const OF_LOCAL = ['workflow', 'mock', 'credentials', 'allowEffects', 'allowHost'];
const OF_CLUSTER = ['test', 'until', 'wait', 'namespace', 'context', 'kubeconfig'];

/** No workflow of a cluster has such a name. */
const FILE = /^-$|[/\\]|\.(?:ya?ml|json)$/i;

/** Executes files, or starts a run on the cluster. @throws CommandError for options of the other kind */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { options } = invocation;
  const isLocal = options['local'] === true;
  const wrong = (isLocal ? OF_CLUSTER : OF_LOCAL).find((name) => options[name] !== undefined);
  if (wrong !== undefined)
    throw new CommandError(
      EXIT.usage,
      `--${flagOf(wrong)} is for runs ${isLocal ? 'on a cluster: remove --local, or this option' : 'of files: add --local, or remove it'}`,
    );
  const file = isLocal ? undefined : invocation.values.find((value) => FILE.test(value));
  if (file !== undefined)
    throw new CommandError(EXIT.usage, `${file} is a file: write --local to execute it without a cluster`);
  if (isLocal) return (await import('../local/command.ts')).execute(invocation, terminal);
  return (await import('../runs/start.ts')).start(invocation, terminal);
}

const flagOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
