/** Executes `windlass store move`. */
import { readFile } from 'node:fs/promises';
import { parseRunStoreURL } from '../../api/runStoreURL.ts';
import { adviceFor, type LeftState } from '../../store/move/interruption.ts';
import {
  cancelMove,
  MoveProblem,
  MoveSuperseded,
  moveStore,
  type MoveResult,
  type StoreAccess,
} from '../../store/move/move.ts';
import { parseAuthorities } from '../../store/trust.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import { tableLines } from '../shared/table.ts';
import type { Terminal } from '../shared/terminal.ts';

type StoreOptions = Partial<
  Record<
    | 'from'
    | 'fromUser'
    | 'fromPasswordFile'
    | 'fromCa'
    | 'to'
    | 'toUser'
    | 'toPasswordFile'
    | 'toCa'
    | 'output',
    string
  >
> & { dryRun?: true; cancel?: true };

/** Moves the run store, or cancels a move. */
export async function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  if (values[0] !== 'move') throw new CommandError(EXIT.usage, `unknown action ${values[0]}: use move`);
  const given = options as StoreOptions;
  if (given.dryRun && given.cancel) throw new CommandError(EXIT.usage, 'use --dry-run or --cancel, not both');
  const from = await readAccess('from', {
    url: given.from,
    user: given.fromUser,
    password: given.fromPasswordFile,
    ca: given.fromCa,
  });
  const to = await readAccess('to', {
    url: given.to,
    user: given.toUser,
    password: given.toPasswordFile,
    ca: given.toCa,
  });
  let left: LeftState = 'unchanged';
  const report = {
    tell: (line: string) => terminal.tell(line),
    progress: (text: string) => terminal.progress(text),
    leaves: (state: LeftState) => void (left = state),
  };
  const stopListening = onInterrupt(() =>
    terminal.tell(`interrupted: ${adviceFor(left) ?? 'nothing was changed'}`),
  );
  try {
    if (given.cancel) await cancelMove(from, to, report);
    else {
      const result = await moveStore(from, to, { isDryRun: given.dryRun === true, report });
      await printResult(result, given, terminal);
    }
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof MoveProblem)) throw error;
    const advice = error instanceof MoveSuperseded ? undefined : adviceFor(left);
    const lines = [error.message, advice].filter((line) => line !== undefined);
    throw new CommandError(EXIT.failed, lines.join('\n'), { cause: error });
  } finally {
    stopListening();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Calls `tell` at a signal, which then ends the process as usual. Returns a function that prevents both. */
function onInterrupt(tell: () => void): () => void {
  const interrupt = (signal: NodeJS.Signals): void => {
    stopListening();
    tell();
    process.kill(process.pid, signal);
  };
  const stopListening = (): void => SIGNALS.forEach((signal) => process.off(signal, interrupt));
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return stopListening;
}

type Given = Record<'url' | 'user' | 'password' | 'ca', string | undefined>;

/** The options of one side. @throws CommandError if one is missing or wrong, or a file cannot be used */
async function readAccess(side: 'from' | 'to', { url, user, password, ca }: Given): Promise<StoreAccess> {
  if (url === undefined) throw new CommandError(EXIT.usage, `the option --${side} is missing`);
  try {
    parseRunStoreURL(url);
  } catch (error) {
    throw new CommandError(EXIT.usage, `the URL of --${side} ${(error as Error).message}`, { cause: error });
  }
  if (ca !== undefined) await checkAuthorities(ca);
  return {
    url,
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password: (await readText(password)).replace(/\r?\n$/, '') }),
    ...(ca !== undefined && { caFile: ca }),
  };
}

/** Without this check, the connection would only report that the certificate of the server is not trusted. */
async function checkAuthorities(file: string): Promise<void> {
  const pem = await readText(file);
  try {
    parseAuthorities(pem);
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(EXIT.input, `cannot use ${file}: ${message}`, { cause: error });
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CommandError(EXIT.input, `cannot read ${file}: ${code}`, { cause: error });
  }
}

async function printResult(result: MoveResult, { output }: StoreOptions, terminal: Terminal): Promise<void> {
  const { outcome, projects } = result;
  const names = projects.map(({ project }) => project).join('\n');
  const data = await formatResult(output, result, names);
  if (data !== undefined) terminal.print(data);
  else if (projects.length > 0) terminal.print(projectTable(result).join('\n'));
  if (outcome === 'dryRun') terminal.tell('dry run: nothing was written');
  if (outcome === 'moved')
    terminal.tell(
      'moved: set redis.url or redis.topology of the chart to the target, and start the programs',
    );
}

function projectTable({ outcome, projects }: MoveResult): string[] {
  const titles = ['PROJECT', 'KEYS', ...(outcome === 'dryRun' ? [] : ['DIGEST'])];
  return tableLines(
    titles,
    projects.map(({ project, keys, digest }) => [project, String(keys), digest].slice(0, titles.length)),
  );
}
