/** What the environment says about output, folders and the cluster. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TerminalSettings } from './shared/terminal.ts';

/** The settings of this process: colour follows https://no-color.org. */
export function terminalSettings(): TerminalSettings & { debug: boolean } {
  const { NO_COLOR = '', TERM, WINDLASS_DEBUG = '' } = process.env;
  return {
    admitsColour: NO_COLOR === '' && TERM !== 'dumb',
    debug: WINDLASS_DEBUG !== '' && WINDLASS_DEBUG !== '0',
  };
}

/** Where this user's programs keep what they can make again. */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME = '' } = process.env;
  return join(XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME, 'windlass');
}

/** The files that kubectl would read: those in KUBECONFIG, or the one in the home folder. */
export function kubeconfigFiles(): string[] {
  const { KUBECONFIG = '' } = process.env;
  const files = KUBECONFIG.split(delimiter).filter((file) => file !== '');
  return files.length > 0 ? files : [join(homedir(), '.kube', 'config')];
}
