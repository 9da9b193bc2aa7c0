/**
 * Reads environment variables without a schema library: poll pods and ticks live for moments, and loading one
 * would take a large part of that time.
 */

export type Environment = Record<string, string | undefined>;

/** The run store and the account of the project in it. */
export type StoreAccount = { url: string; username?: string; password?: string; caFile?: string };

export type EnvironmentReader = {
  /** The value; '' if it is missing, which `close` reports. */
  required: (name: string) => string;
  /** The items of a comma-separated list, without empty ones. */
  list: (name: string) => string[];
  store: () => StoreAccount;
  /** Throws an Error that names every missing variable. */
  close: () => void;
};

export function readEnvironment(env: Environment, program: string): EnvironmentReader {
  const missing: string[] = [];
  const required = (name: string): string => {
    const { [name]: value = '' } = env;
    if (value === '') missing.push(name);
    return value;
  };
  return {
    required,
    list: (name) => (env[name] ?? '').split(',').flatMap((item) => item.trim() || []),
    store: () => storeAccount(required('REDIS_URL'), env),
    close: () => {
      if (missing.length > 0) {
        throw new Error(`Invalid environment of the ${program}: missing ${missing.join(', ')}`);
      }
    },
  };
}

type AccountVariables = Partial<
  Record<'REDIS_USERNAME' | 'REDIS_PASSWORD' | 'REDIS_CA_FILE', string | undefined>
>;

/** The account from the variables that all programs of a project share. */
export function storeAccount(url: string, env: AccountVariables): StoreAccount {
  const { REDIS_USERNAME: username, REDIS_PASSWORD: password, REDIS_CA_FILE: caFile } = env;
  return { url, ...(username && { username }), ...(password && { password }), ...(caFile && { caFile }) };
}
