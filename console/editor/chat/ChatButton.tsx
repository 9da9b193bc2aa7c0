/** Opens the chat panel of a workflow with a chat trigger or an agent. */
import { Button, Group } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import { lazy, useState } from 'react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { useOfferedAction } from '../../ui/offered.ts';
import { SideDrawer } from '../../ui/SideDrawer.tsx';
import { useEditorPart } from '../store/store.ts';
import { COMPACT_IN_TIGHT_BAR } from '../../ui/compact.ts';
import { isConversation, newPanelChat } from './chat.ts';

const ChatConversation = lazy(async () => ({
  default: (await import('./ChatConversation.tsx')).ChatConversation,
}));

export function ChatButton() {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const isShown = useEditorPart(({ workflow: { spec } }) => isConversation(spec));
  const suspended = useEditorPart(({ workflow: { spec } }) => spec.suspend === true);
  const mayTest = useMay({ verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name });
  const [isOpen, setOpen] = useState(false);
  const [chat, setChat] = useState(newPanelChat);
  useOfferedAction('Chat', isShown && mayTest && !suspended ? () => setOpen(true) : undefined);
  if (!isShown || !mayTest) return null;
  return (
    <Group>
      <Button
        variant="light"
        leftSection={<IconMessages size={14} />}
        disabled={suspended}
        onClick={() => setOpen(true)}
        aria-label="Chat"
        classNames={COMPACT_IN_TIGHT_BAR}
        title="Chat"
      >
        Chat
      </Button>
      <SideDrawer label="Chat" width={560} isFilled opened={isOpen} onClose={() => setOpen(false)}>
        <ChatConversation chat={chat} onChat={setChat} />
      </SideDrawer>
    </Group>
  );
}
