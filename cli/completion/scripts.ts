/** What a shell executes to complete a command line of `windlass`. Pure. */

/** The first word of a line that asks for completions; the words after it are those of the line. */
export const COMPLETE = '__complete';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Whose script `windlass completion` prints. */
export const COMPLETED = [...SHELLS, 'kubectl'] as const;

/**
 * Each asks for words, and leaves files to the shell where there are none. zsh executes a file of its
 * `fpath` as the function when it completes for the first time; the others source the script.
 */
export const SCRIPTS: Readonly<Record<(typeof COMPLETED)[number], string>> = {
  bash: `_windlass() {
  local IFS=$'\\n'
  COMPREPLY=($(windlass ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _windlass windlass`,
  zsh: `#compdef windlass
_windlass() {
  local -a found
  found=("\${(@f)$(windlass ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [[ \${funcstack[1]} = _windlass ]]; then _windlass; else compdef _windlass windlass; fi`,
  fish: `function __windlass_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (windlass ${COMPLETE} $words[2..] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c windlass -f -a '(__windlass_complete)'`,
  // kubectl executes it for its plugin, and leaves files to the shell where there are no words (0).
  kubectl: `#!/bin/sh
windlass ${COMPLETE} "$@" 2>/dev/null
echo :0`,
};
