/** A program that is an OAuth provider to an end-to-end test. */
import { startOAuthProvider } from './oauthProvider.ts';

async function main({
  ISSUER = '',
  PORT,
  REDIRECT_URI = '',
}: Record<string, string | undefined>): Promise<void> {
  const at = { host: '0.0.0.0', port: Number(PORT ?? 3000), issuer: ISSUER };
  const provider = await startOAuthProvider({ redirectURI: REDIRECT_URI, at });
  console.log(JSON.stringify({ msg: 'OAuth provider listens', issuer: provider.issuer }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void provider.close().then(() => process.exit(0)));
  }
}

if (import.meta.main) await main(process.env);
