/**
 * Loaded before a program with `--import`: SIGUSR2 keeps its event loop from turning for as long as
 * `BLOCK_MS` says, as work that never yields would, but without taking the processor.
 */
process.on('SIGUSR2', () => {
  const nobodyWakes = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  Atomics.wait(nobodyWakes, 0, 0, Number(process.env['BLOCK_MS']));
});
