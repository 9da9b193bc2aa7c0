/** The commands about the health of projects and of the installation. */
import { CLUSTER_OPTIONS, SYSTEM_OPTION } from '../cluster/options.ts';
import type { Command } from '../shared/command.ts';
import { OUTPUT_OPTION } from '../shared/output.ts';

const STATUS: Command = {
  name: 'status',
  summary: 'Show what is unhealthy in a project, and what to do',
  description: [
    'Prints workflows and settings of projects that are not in effect, runners that cannot start or be scaled, credentials that do not work, runs that no runner executes, and workflows whose live runs failed in the last day: the most important first, each with its reason and the command that mends it or shows more. It fails if something is in error.',
  ],
  arguments: [],
  options: [
    { flags: '-A, --all-namespaces', description: 'All projects of the cluster.' },
    ...CLUSTER_OPTIONS,
    OUTPUT_OPTION,
  ],
  examples: [
    { command: 'windlass status', does: 'of the project' },
    { command: 'windlass status -A -o json', does: 'of all projects, for a program' },
  ],
  load: () => import('./command.ts'),
};

const DOCTOR: Command = {
  name: 'doctor',
  summary: 'Check the installation, and write a support bundle',
  description: [
    'Checks that the API server answers, that it has the kinds of Windlass, that you may do what the commands need, that operator, gateway and Redis run and have one version, whether the run store shows a setting by which it would lose data, and that webhooks can be called from this machine. It fails if something is in error.',
    'With --bundle it writes a JSON file to send to somebody who helps. It has names, versions, phases and reasons; no Secrets, specs, events, outputs, logs or messages.',
  ],
  arguments: [],
  options: [
    { flags: '--bundle <file>', description: 'Write a support bundle into this file.' },
    ...CLUSTER_OPTIONS,
    SYSTEM_OPTION,
    OUTPUT_OPTION,
  ],
  examples: [
    { command: 'windlass doctor', does: 'check the installation' },
    { command: 'windlass doctor --bundle support.json', does: 'and write a support bundle' },
  ],
  load: () => import('../doctor/command.ts'),
};

export const STATUS_COMMANDS: readonly Command[] = [STATUS, DOCTOR];
