/** `windlass store`. */
import { readFile } from 'node:fs/promises';
import { parseRunStoreURL } from '../../api/runStoreURL.ts';
import { cancelMove, MoveProblem, moveStore, type Moved, type MovedStore } from '../../store/move/move.ts';
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

/** Moves the run store, or gives a move up. */
export async function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  if (values[0] !== 'move') throw new CommandError(EXIT.usage, `unknown action ${values[0]}: use move`);
  const given = options as StoreOptions;
  if (given.dryRun && given.cancel) throw new CommandError(EXIT.usage, 'use --dry-run or --cancel, not both');
  const from = await storeOf('from', {
    url: given.from,
    user: given.fromUser,
    password: given.fromPasswordFile,
    ca: given.fromCa,
  });
  const to = await storeOf('to', {
    url: given.to,
    user: given.toUser,
    password: given.toPasswordFile,
    ca: given.toCa,
  });
  const report = {
    tell: (line: string) => terminal.tell(line),
    progress: (text: string) => terminal.progress(text),
  };
  try {
    if (given.cancel) await cancelMove(from, to, report);
    else
      await printMoved(await moveStore(from, to, { isDry: given.dryRun === true, report }), given, terminal);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof MoveProblem)) throw error;
    throw new CommandError(EXIT.failed, error.message, { cause: error });
  }
}

type Given = Record<'url' | 'user' | 'password' | 'ca', string | undefined>;

/** @throws CommandError where an option is missing or wrong, or a file cannot be read */
async function storeOf(side: 'from' | 'to', { url, user, password, ca }: Given): Promise<MovedStore> {
  if (url === undefined) throw new CommandError(EXIT.usage, `the option --${side} is missing`);
  try {
    parseRunStoreURL(url);
  } catch (error) {
    throw new CommandError(EXIT.usage, `the URL of --${side} ${(error as Error).message}`, { cause: error });
  }
  // The server refuses to tell authorities that cannot be read from others that are wrong.
  if (ca !== undefined) await readText(ca);
  return {
    url,
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password: (await readText(password)).replace(/\r?\n$/, '') }),
    ...(ca !== undefined && { caFile: ca }),
  };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CommandError(EXIT.input, `cannot read ${file}: ${code}`, { cause: error });
  }
}

async function printMoved(moved: Moved, { output }: StoreOptions, terminal: Terminal): Promise<void> {
  const { outcome, projects } = moved;
  const names = projects.map(({ project }) => project).join('\n');
  const data = await formatResult(output, moved, names);
  if (data !== undefined) terminal.print(data);
  else if (projects.length > 0) terminal.print(listed(moved).join('\n'));
  if (outcome === 'dry') terminal.tell('dry run: nothing was written');
  if (outcome === 'moved')
    terminal.tell(
      'moved: set redis.url or redis.topology of the chart to the target, and start the programs',
    );
}

function listed({ outcome, projects }: Moved): string[] {
  const titles = ['PROJECT', 'KEYS', ...(outcome === 'dry' ? [] : ['DIGEST'])];
  return tableLines(
    titles,
    projects.map(({ project, keys, digest }) => [project, String(keys), digest].slice(0, titles.length)),
  );
}
