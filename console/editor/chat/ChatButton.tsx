/** Opens the chat panel of a workflow with a chat trigger or an agent. Narrow screens have no room for it. */
import { Button, Loader } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { useEditorPart } from '../store/store.ts';
import { isConversation } from './chat.ts';

const ChatDrawer = lazy(async () => ({ default: (await import('./ChatDrawer.tsx')).ChatDrawer }));

export function ChatButton() {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const isShown = useEditorPart(({ workflow: { spec } }) => isConversation(spec));
  const suspended = useEditorPart(({ workflow: { spec } }) => spec.suspend === true);
  const mayTest = useMay({ verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name });
  const [isOpen, setOpen] = useState(false);
  if (!isShown || !mayTest) return null;
  return (
    <>
      <Button
        variant="light"
        visibleFrom="sm"
        leftSection={<IconMessages size={14} />}
        disabled={suspended}
        onClick={() => setOpen(true)}
      >
        Chat
      </Button>
      {isOpen && (
        <Suspense fallback={<Loader size="sm" aria-label="Loading the chat" />}>
          <ChatDrawer opened onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
