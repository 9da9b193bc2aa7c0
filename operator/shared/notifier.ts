/** Tells subscribers that something changed which no cache shows. */

export type Notifier<T> = {
  notify(value: T): void;
  /** Calls the handler for every later value. */
  onChange(handler: (value: T) => void): void;
};

export function createNotifier<T>(): Notifier<T> {
  const handlers: ((value: T) => void)[] = [];
  return {
    notify: (value) => {
      for (const handler of handlers) handler(value);
    },
    onChange: (handler) => void handlers.push(handler),
  };
}
