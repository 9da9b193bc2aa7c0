/**
 * The part of the WebAssembly API that the sandbox and `quickjs-wasi` use, which the types of Node.js lack.
 */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  interface Instance {
    readonly exports: Record<string, unknown>;
  }
  interface Global {
    value: number;
  }
  function instantiate(bytes: Uint8Array<ArrayBuffer>): Promise<{ instance: Instance }>;
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
}
