/** The entry point of the console. */
import './styles.ts';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { isPassing } from './http/call.ts';
import { followVisibility } from './kube/live.ts';
import { announceNonce, styleNonce } from './ui/nonce.ts';
import { closeOnlyTopDialog } from './ui/topDialog.ts';
import { router } from './router.tsx';
import { SessionGate } from './session/SessionGate.tsx';
import { theme, variables } from './theme.ts';
import { installTrustedTypes } from './trusted.ts';

installTrustedTypes();
announceNonce();
followVisibility();
closeOnlyTopDialog();

/** The delay before failed queries are retried. */
const RETRY_MS = 5_000;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Watches keep the data current.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => isPassing(error) && failures < 3,
      // A page that only shows a failure retries by itself.
      refetchInterval: ({ state: { data, error } }) =>
        data === undefined && isPassing(error) ? RETRY_MS : false,
    },
  },
});

const element = document.getElementById('root');
if (element === null) throw new Error('index.html has no element "root"');
createRoot(element).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={variables}
    defaultColorScheme="auto"
    colorSchemeManager={localStorageColorSchemeManager({ key: 'windlass.scheme' })}
    getStyleNonce={styleNonce}
  >
    <Notifications position="bottom-right" />
    <QueryClientProvider client={client}>
      <SessionGate>
        <RouterProvider router={router} />
      </SessionGate>
    </QueryClientProvider>
  </MantineProvider>,
);
