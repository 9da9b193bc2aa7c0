/** The page of the command `windlass`, from the definitions of its commands. */
import type { Argument, Command, Option } from '../cli/shared/command.ts';
import { EXIT_CODES } from '../cli/shared/exit.ts';

const INTRO = `<!-- Generated from cli/commands.ts by \`npm run generate\`. Do not edit. -->
# The command line

\`windlass\` checks and executes manifests without a cluster, and starts, follows and repeats runs on a cluster. In this repository \`npm run cli -- COMMAND\` executes it from source.
\`npm run cli:bundle\` makes it for machines with Node.js 24, without dependencies, in two forms:

- *One file*, \`dist/windlass.mjs\`: copy it anywhere in the path as \`windlass\`, and as \`kubectl-windlass\` for \`kubectl windlass\`. Its first start unpacks 10 MB into
  \`$XDG_CACHE_HOME/windlass\` (or \`~/.cache/windlass\`); where it may not write there, each start unpacks them into a temporary folder.
- *An npm package*, \`dist/cli\`: \`npx ./dist/cli lint workflows/\` executes it, \`npm install --global ./dist/cli\` puts \`windlass\` and \`kubectl-windlass\` into the path, and
  \`npm pack ./dist/cli\` makes the archive for a registry.

Commands that talk to a cluster read the kubeconfig as kubectl does, and call the API server as the user of its context. Nothing
else is configured: the gateway is reached through a connection that the API server forwards.

Results go to the standard output, messages to the standard error. A terminal gets colour, unless \`NO_COLOR\` is set. On a terminal, work that takes more than a second says how far it is.
`;

/** The page as Markdown. */
export function cliPage(commands: readonly Command[]): string {
  const codes = Object.entries(EXIT_CODES).map(([code, means]) => `| ${code} | ${means} |`);
  const list = commands.map(
    ({ name, summary }) => `| [\`windlass ${name}\`](#windlass-${name.replaceAll(' ', '-')}) | ${summary} |`,
  );
  return [
    INTRO,
    `| command | does |\n| --- | --- |\n${list.join('\n')}\n`,
    `## Exit codes\n\n| code | meaning |\n| --- | --- |\n${codes.join('\n')}\n`,
    ...commands.map(section),
  ].join('\n');
}

function section({ name, description, arguments: args, options, examples }: Command): string {
  const shown = examples.map(({ command, does }) => `# ${does}\n${command}`).join('\n\n');
  const rows = [...args.map(argumentRow), ...options.map(optionRow)];
  return [
    `## windlass ${name}\n`,
    ...description.map((paragraph) => `${paragraph}\n`),
    ...(rows.length > 0 ? [`| argument | meaning |\n| --- | --- |\n${rows.join('\n')}\n`] : []),
    `\`\`\`sh\n${shown}\n\`\`\`\n`,
  ].join('\n');
}

function argumentRow({ name, description, variadic, optional }: Argument): string {
  const note = optional ? ' It may be left out.' : '';
  return `| \`${name}${variadic ? '…' : ''}\` | ${description}${note} |`;
}

function optionRow({ flags, description, choices, default: value, repeatable }: Option): string {
  const notes = [
    ...(choices ? [`One of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`] : []),
    ...(value === undefined ? [] : [`Default: \`${value}\`.`]),
    ...(repeatable ? ['It may be given several times.'] : []),
  ];
  return `| \`${flags.replaceAll('|', '\\|')}\` | ${[description, ...notes].join(' ')} |`;
}
