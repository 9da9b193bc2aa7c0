/** The commands about the run store of an installation. */
import type { Command, Option } from '../shared/command.ts';
import { OUTPUT_OPTION } from '../shared/output.ts';

/** The options that say where one side of the move is, and how to sign in there. */
function sideOptions(side: 'from' | 'to', store: string): Option[] {
  return [
    {
      flags: `--${side} <url>`,
      description: `The servers of ${store}: redis://host:port, redis+sentinel://host:port,…/primary?replicas=N, or redis+cluster://host:port,…?replicas=N; rediss in place of redis for TLS.`,
    },
    { flags: `--${side}-user <name>`, description: `The account of ${store}. Left out: default.` },
    {
      flags: `--${side}-password-file <file>`,
      description: `A file that contains the password of that account. Left out: no password.`,
    },
    {
      flags: `--${side}-ca <file>`,
      description: `A file that contains the certificate authorities of ${store} (PEM), for TLS. Left out: public authorities.`,
    },
  ];
}

const STORE: Command = {
  name: 'store',
  summary: 'Move the run store to other servers',
  description: [
    'Moves all data of Windlass from one Redis (the source) to another one (the target). Each is one server, servers with Sentinel, or a Redis Cluster. The command closes each project in the source, copies its keys, compares both sides key by key, and opens the projects in the target. Stop operator, gateway and runners first: operations.md has all steps.',
    'It can be interrupted at any point: the same command continues. While another call of it is connected to one of the servers, it refuses to begin. No project is open in the target before all keys were compared. The source keeps its data, but its projects stay closed. Before the target has all data, --cancel opens the projects of the source again, also while the target cannot be reached.',
    'The result has a line for each project: its UID, the number of its keys, and a digest of the keys with their values and expiries, which is the same on both sides. The line - counts keys of no project, such as sessions of the console.',
  ],
  arguments: [{ name: 'action', description: 'What to do: move.', choices: ['move'] }],
  options: [
    ...sideOptions('from', 'the source'),
    ...sideOptions('to', 'the target'),
    { flags: '--dry-run', description: 'Check both sides, count the keys, and write nothing.' },
    { flags: '--cancel', description: 'Cancel the move: open the projects of the source again.' },
    OUTPUT_OPTION,
  ],
  examples: [
    {
      command:
        'windlass store move --from redis://127.0.0.1:6379 --from-user windlass-operator --from-password-file old.txt --to rediss://redis.example.com:6379 --to-user windlass --to-password-file new.txt --dry-run',
      does: 'check whether the run store can be moved to a managed service',
    },
    {
      command:
        'windlass store move --from redis://redis-0:6379 --to "redis+cluster://node-0:6379,node-1:6379?replicas=1"',
      does: 'move from one server to a Redis Cluster',
    },
  ],
  load: () => import('./command.ts'),
};

export const STORE_COMMANDS: readonly Command[] = [STORE];
