/** The program `windlass`. */
import { COMMANDS } from './commands.ts';
import { kubeconfigFiles, terminalSettings } from './config.ts';
import { executeLine } from './program.ts';
import { createTerminal } from './shared/terminal.ts';

// A reader that has seen enough, such as `head`, ends the output.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const settings = terminalSettings();
const terminal = createTerminal(process, settings);
process.exitCode = await executeLine(COMMANDS, process.argv.slice(2), {
  terminal,
  debug: settings.debug,
  kubeconfig: kubeconfigFiles(),
});
