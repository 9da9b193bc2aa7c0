/** The commands about the run store of an installation. */
import type { Command, Option } from '../shared/command.ts';
import { OUTPUT_OPTION } from '../shared/output.ts';

/** Where one side of the move is, and its account. */
function sideOptions(side: 'from' | 'to', store: string): Option[] {
  return [
    {
      flags: `--${side} <url>`,
      description: `The servers of ${store}: redis://host:port, redis+sentinel://host:port,…/primary?replicas=N, or redis+cluster://host:port,…?replicas=N; with rediss in the place of redis by TLS.`,
    },
    { flags: `--${side}-user <name>`, description: `The account of ${store}. Left out: default.` },
    {
      flags: `--${side}-password-file <file>`,
      description: `A file with the password of that account. Left out: none.`,
    },
    {
      flags: `--${side}-ca <file>`,
      description: `With TLS: a file with the authorities of the certificates of ${store} (PEM). Left out: public ones.`,
    },
  ];
}

const STORE: Command = {
  name: 'store',
  summary: 'Move the run store to other servers',
  description: [
    'Moves all data of Windlass from one Redis to another one, from and to one server, Sentinel or a Redis Cluster: it closes each project in the source, copies its keys, compares both sides key by key, and opens the projects in the target. Stop operator, gateway and runners before: operations.md has all steps.',
    'It can be interrupted at any point, and the same command continues. Nothing is open in the target before all of it was compared. The source keeps its data, closed: a program that still uses it gets no project. --cancel opens the source again, until the target has all data.',
    'The last line of each project is its name, the number of its keys, and a digest of them with their values and expiries, which is the same on both sides.',
  ],
  arguments: [{ name: 'action', description: 'What to do: move.', choices: ['move'] }],
  options: [
    ...sideOptions('from', 'the source'),
    ...sideOptions('to', 'the target'),
    { flags: '--dry-run', description: 'Check both sides and count the keys, and write nothing.' },
    { flags: '--cancel', description: 'Give the move up: open the projects of the source again.' },
    OUTPUT_OPTION,
  ],
  examples: [
    {
      command:
        'windlass store move --from redis://127.0.0.1:6379 --from-user windlass-operator --from-password-file old.txt --to rediss://redis.example.com:6379 --to-user windlass --to-password-file new.txt --dry-run',
      does: 'whether the run store could be moved to a managed service',
    },
    {
      command:
        'windlass store move --from redis://redis-0:6379 --to "redis+cluster://node-0:6379,node-1:6379?replicas=1"',
      does: 'from one server to a Redis Cluster',
    },
  ],
  load: () => import('./command.ts'),
};

export const STORE_COMMANDS: readonly Command[] = [STORE];
