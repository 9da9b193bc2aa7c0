/** Says why the draft is not saved, and what to do about it. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconCloudOff } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { useMay } from '../kube/access.ts';
import { CREDENTIALS } from '../kube/resources.ts';
import { notifySuccess } from '../ui/notify.tsx';
import { useFocusWhenGone } from '../ui/useFocusWhenGone.ts';
import type { DraftState } from './store/draftState.ts';
import { useEditorPart, useEditorStore } from './store/store.ts';

const CredentialDialog = lazy(async () => ({
  default: (await import('../credentials/CredentialDialogs.tsx')).CredentialDialog,
}));

export function DraftBanner() {
  const state = useEditorPart(({ draftState }) => draftState);
  if (state.kind === 'idle' || state.kind === 'saving') return null;
  return <Banner state={state} />;
}

function Banner({ state }: { state: Unsaved }) {
  const banner = useRef<HTMLDivElement>(null);
  useFocusWhenGone(banner);
  return (
    <Alert
      ref={banner}
      color="orange"
      variant="light"
      radius={0}
      py={6}
      icon={<IconCloudOff size={16} />}
      role="status"
    >
      <Group gap="sm" justify="space-between">
        <Text size="sm" flex="1 1 320px" style={{ overflowWrap: 'anywhere' }}>
          {reasonOf(state)}
        </Text>
        <Actions state={state} />
      </Group>
    </Alert>
  );
}

type Unsaved = Exclude<DraftState, { kind: 'idle' | 'saving' }>;

function reasonOf(state: Unsaved): ReactNode {
  switch (state.kind) {
    case 'failed':
      return `The draft is not saved. ${state.why}`;
    case 'withheld':
      return `The draft is not saved, because ${state.place} contains what looks like a key. Put it into a credential.`;
    case 'conflict':
      return 'Somebody else changed the same part of this draft. Yours is not saved until you choose one.';
    case 'foreign':
      return 'A draft is stored that this page cannot use: it belongs to a deleted workflow of the same name, or was not written by the console. Changes are not saved until it is removed.';
  }
}

function Actions({ state }: { state: Unsaved }) {
  const store = useEditorStore();
  if (state.kind === 'failed' || state.kind === 'withheld')
    return (
      <Group gap="xs">
        {state.kind === 'withheld' && <NewCredential />}
        <Button variant="light" color="orange" onClick={() => void store.saveDraft()}>
          Try again
        </Button>
      </Group>
    );
  if (state.kind === 'foreign')
    return (
      <Button variant="light" color="orange" onClick={() => void store.removeForeign()}>
        Remove that draft
      </Button>
    );
  return (
    <Group gap="xs">
      <Button variant="default" onClick={() => store.resolveDraft('theirs')}>
        Use theirs, discard mine
      </Button>
      <Button
        variant="light"
        color="orange"
        onClick={() => {
          store.resolveDraft('mine');
          void store.saveDraft();
        }}
      >
        Keep mine
      </Button>
    </Group>
  );
}

/** Where the key belongs. Of any kind: what looks like a key does not tell which one it is of. */
function NewCredential() {
  const namespace = useEditorPart((state) => state.namespace);
  const mayCreate = useMay({ verb: 'create', resource: CREDENTIALS, namespace });
  const [isOpen, setOpen] = useState(false);
  if (!mayCreate) return null;
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        New credential…
      </Button>
      {isOpen && (
        <Suspense>
          <CredentialDialog
            namespace={namespace}
            kinds={[]}
            opened
            onClose={() => setOpen(false)}
            onCreated={(name) =>
              notifySuccess(
                `Credential ${name} created. Choose it where it is needed, and remove the key from the draft.`,
              )
            }
          />
        </Suspense>
      )}
    </>
  );
}
