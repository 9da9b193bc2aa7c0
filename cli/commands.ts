/** The commands of `windlass`. */
import { CLUSTER_OPTIONS } from './cluster/options.ts';
import { COMPLETED } from './completion/scripts.ts';
import { CREDENTIAL_COMMANDS } from './credentials/commands.ts';
import { RUN_COMMANDS, WAIT } from './runs/commands.ts';
import type { Command } from './shared/command.ts';
import { STATUS_COMMANDS } from './status/commands.ts';
import { STORE_COMMANDS } from './store/commands.ts';
import { OUTPUT_OPTION } from './shared/output.ts';

const VERSION: Command = {
  name: 'version',
  summary: 'Print the version',
  description: ['Prints the version of windlass, of the API that it knows, and of Node.js.'],
  arguments: [],
  options: [OUTPUT_OPTION],
  examples: [{ command: 'windlass version -o json', does: 'the version for a script' }],
  load: () => import('./version/command.ts'),
};

const LINT: Command = {
  name: 'lint',
  summary: 'Check manifests as the API server and the operator would',
  description: [
    'Checks Workflows, Credentials and the other kinds without a cluster: the YAML, the schema and the CEL rules of the CRDs, and the checks of the operator, such as those of expressions, skills, schedules and code. Each message has file, line and column.',
    'Objects that are named together are checked as if they were applied together. What another namespace object or another setting of the installation can make right, such as a Credential that is not among the files, is a warning.',
    'Objects of other kinds are skipped, so that whole folders and the output of kustomize can be checked. Templates of Helm have to be rendered before.',
  ],
  arguments: [
    {
      name: 'file',
      description:
        'Files and folders; of folders all YAML and JSON files in them and below. - is the standard input.',
      variadic: true,
    },
  ],
  options: [
    {
      flags: '--format <format>',
      description:
        'How findings are written: for people, as JSON, as annotations of GitHub Actions, or as SARIF 2.1.0 for code scanning.',
      choices: ['text', 'json', 'github', 'sarif'],
      default: 'text',
    },
    { flags: '--strict', description: 'Warnings fail the command, too.' },
    {
      flags: '--allow-empty',
      description:
        'Succeed if the files have no manifest of Windlass, as for a hook that is given any files.',
    },
  ],
  examples: [
    { command: 'windlass lint workflows/', does: 'everything in a folder' },
    { command: 'kustomize build overlays/prod | windlass lint -', does: 'what an overlay makes' },
    { command: 'windlass lint --format github workflows/', does: 'annotations in a pull request' },
  ],
  load: () => import('./lint/command.ts'),
};

const CHANGES: Command = {
  name: 'changes',
  summary: 'Compare two sets of manifests',
  description: [
    'Prints which Workflows, Credentials and other objects of Windlass would be created, changed and deleted if the second set of manifests were applied in place of the first one, and which fields change. Nodes are compared by their IDs. Objects of other kinds, such as Secrets, are not read.',
    'The exit code does not say whether something would change.',
  ],
  arguments: [
    { name: 'before', description: 'A file or folder with the manifests of now. - is the standard input.' },
    { name: 'after', description: 'A file or folder with the manifests to apply. - is the standard input.' },
  ],
  options: [
    {
      flags: '--format <format>',
      description: 'For people, as Markdown for a comment in a pull request, or as JSON.',
      choices: ['text', 'markdown', 'json'],
      default: 'text',
    },
  ],
  examples: [
    { command: 'windlass changes --format markdown base/ head/', does: 'a comment for a pull request' },
    {
      command: 'git show main:orders.yaml | windlass changes - orders.yaml',
      does: 'what a branch changes in a file',
    },
  ],
  load: () => import('./changes/command.ts'),
};

const RUN: Command = {
  name: 'run',
  summary: 'Run a workflow on the cluster, or of files without one',
  description: [
    'Starts a run of a workflow of the cluster, and with --wait shows what happens until it has ended. Ctrl-C ends the command, and the run goes on.',
    'With --local it executes a workflow of the files once, with the code of the runner and the scripts of the run store. It needs redis-server 7 or newer, or valkey-server, in the path, starts one for the time of the run, and records nothing.',
    'Skills and tools that contact another system are not executed: what they would have sent is shown. --mock gives their outputs, and --allow-effects lets all others do what they do in a cluster. Agents are executed: their prompts are sent to the model, with the Credential and Secret of the files; a mock replaces them. Steps connect to the Internet alone, unless --allow-host names more.',
    'Waits take their time; Ctrl-C ends the run. A mock takes the place of a callback: nothing answers at its URL. All workflows of the files can be called as child runs. Schedules, polls and error workflows start nothing.',
  ],
  arguments: [
    {
      name: 'workflow',
      description:
        'The name of the workflow. With --local: files and folders with the Workflow, the workflows that it calls, and the ConfigMap windlass-variables; - is the standard input.',
      variadic: true,
      completes: 'workflows',
    },
  ],
  options: [
    {
      flags: '--input <file>',
      description:
        'The event as JSON: of manual and webhook triggers the body, of others an object with text_content and data_content. Left out: an empty event, and in a test run the testData of the trigger.',
    },
    WAIT,
    { flags: '--test', description: 'A test run, also of an inactive workflow. Its effects are real.' },
    {
      flags: '--until <node>',
      description: 'A test run that ends after this node: nodes that are not before it are skipped.',
    },
    ...CLUSTER_OPTIONS,
    { flags: '--local', description: 'Execute files without a cluster, as a test run.' },
    {
      flags: '--workflow <name>',
      description: 'With --local: the workflow to execute, if the files have several.',
    },
    {
      flags: '--mock <node=file>',
      description:
        'With --local: what a node returns in place of doing something, as JSON: an output with text_content and data_content, {"error": {"reason": "Timeout"}}, or any other JSON as data_content. node/tool=file stands for a tool of an agent.',
      repeatable: true,
    },
    {
      flags: '--credentials <file>',
      description:
        'With --local: manifests with Credentials and the Secrets that they name, as kubectl applies them.',
      repeatable: true,
    },
    {
      flags: '--allow-effects',
      description: 'With --local: let steps without a mock do what they do in a cluster.',
    },
    {
      flags: '--allow-host <host:port>',
      description:
        'With --local: a host or range beside the Internet that steps may connect to, such as 127.0.0.1:8080.',
      repeatable: true,
    },
    OUTPUT_OPTION,
  ],
  examples: [
    { command: 'windlass run orders --input order.json --wait', does: 'on the cluster' },
    {
      command: 'windlass run --local examples/hello/workflow.yaml',
      does: 'without a cluster, with the test data of the trigger',
    },
    {
      command: 'windlass run --local orders.yaml --input order.json --mock agent_1=answer.json',
      does: 'without a cluster, with an event, and an answer in place of the model',
    },
  ],
  load: () => import('./run/command.ts'),
};

const TEST: Command = {
  name: 'test',
  summary: 'Test workflows without a cluster',
  description: [
    'Executes the cases of files such as orders.test.yaml, each as a run of the workflow in orders.yaml beside it, as windlass run --local does. Cases have the form of those of an Evaluation: name, data (in the form of the testData of the trigger), mocks, phase, and expect with contains, schema, cel or tokensAtMost.',
    'A step that contacts another system needs a mock or real: true; without one its run fails before anything is sent. Cases that are invalid fail the command, and the cases of the other files are executed.',
    'kubectl apply -f refuses a folder with cases, which are no objects: apply it with a kustomization, or name its files.',
  ],
  arguments: [
    {
      name: 'path',
      description: 'Files with cases, and folders; of folders all files *.test.yaml in them and below.',
      variadic: true,
    },
  ],
  options: [
    {
      flags: '--with <file>',
      description:
        'Manifests that the workflows need beside their own file: workflows that they call, the ConfigMap windlass-variables, Credentials and Secrets.',
      repeatable: true,
    },
    { flags: '--junit <file>', description: 'Write the results as JUnit XML, too.' },
  ],
  examples: [
    { command: 'windlass test workflows/', does: 'all cases of a folder' },
    {
      command: 'windlass test examples/environments --with examples/environments/variables.yaml',
      does: 'the cases of an example, with the variables of its project',
    },
    { command: 'windlass test --junit report.xml workflows/', does: 'with a report for CI' },
  ],
  load: () => import('./cases/command.ts'),
};

const IMPORT: Command = {
  name: 'import',
  summary: 'Convert workflows of another system into manifests',
  description: [
    'Writes a YAML file for each Workflow and Credential, and import-report.json with the state of each node: converted, review (it differs in meaning), or manual (a placeholder that fails and keeps the parameters). The states are explained in import-n8n.md. Secrets are not imported: Credentials name those that you create.',
    'A file that cannot be read is reported, and the others are converted. A file of the folder that has another content, such as one that you edited after an earlier import, is replaced with --force alone.',
  ],
  arguments: [
    { name: 'format', description: 'Where the files come from: n8n.', choices: ['n8n'] },
    {
      name: 'file',
      description: 'Exports in JSON, and folders; of folders all JSON files in them and below.',
      variadic: true,
    },
  ],
  options: [
    {
      flags: '-o, --output-dir <folder>',
      description: 'The folder to write into. It is created if it does not exist.',
      default: 'imported',
    },
    { flags: '--force', description: 'Replace files that have another content.' },
  ],
  examples: [
    { command: 'windlass import n8n exports/ -o workflows/', does: 'all exports of a folder' },
    { command: 'windlass lint workflows/', does: 'check what was imported' },
  ],
  load: () => import('./import/command.ts'),
};

const EXPORT: Command = {
  name: 'export',
  summary: 'Print workflows of the cluster as manifests for Git',
  description: [
    'Prints workflows and the credentials that they name as YAML that kubectl applies to any namespace: without status, and without what the cluster sets. Secrets are not read: the messages name those that the credentials need.',
  ],
  arguments: [
    {
      name: 'workflow',
      description: 'Names of workflows. Left out: all workflows and credentials of the project.',
      variadic: true,
      optional: true,
      completes: 'workflows',
    },
  ],
  options: [...CLUSTER_OPTIONS, OUTPUT_OPTION],
  examples: [
    { command: 'windlass export orders > orders.yaml', does: 'a workflow with its credentials' },
    { command: 'windlass export -n shop | windlass lint -', does: 'check what a project has' },
  ],
  load: () => import('./export/command.ts'),
};

const COMPLETION: Command = {
  name: 'completion',
  summary: 'Print the completion script of a shell',
  description: [
    'Prints a script that completes commands, options, and names of workflows, runs, credentials, namespaces and contexts, which it asks the cluster for. A cluster that does not answer within two seconds completes nothing.',
  ],
  arguments: [
    { name: 'shell', description: 'bash, zsh, fish, or kubectl for `kubectl windlass`.', choices: COMPLETED },
  ],
  options: [],
  examples: [
    {
      command: 'windlass completion bash > ~/.local/share/bash-completion/completions/windlass',
      does: 'bash, with the package bash-completion',
    },
    {
      command: 'windlass completion zsh > "${fpath[1]}/_windlass"',
      does: 'zsh, before compinit',
    },
    {
      command: 'windlass completion fish > ~/.config/fish/completions/windlass.fish',
      does: 'fish',
    },
    {
      command: 'install -m 755 <(windlass completion kubectl) ~/.local/bin/kubectl_complete-windlass',
      does: 'kubectl windlass, in a folder of the path; the completion of kubectl calls it',
    },
  ],
  load: () => import('./completion/command.ts'),
};

export const COMMANDS: readonly Command[] = [
  LINT,
  CHANGES,
  TEST,
  RUN,
  ...RUN_COMMANDS,
  ...STATUS_COMMANDS,
  ...CREDENTIAL_COMMANDS,
  EXPORT,
  IMPORT,
  ...STORE_COMMANDS,
  COMPLETION,
  VERSION,
];
