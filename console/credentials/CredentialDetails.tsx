/** Details of one credential, live, and its actions. Each action is shown only to users who may use it. */
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { CredentialKind } from '../../api/credential.ts';
import { useMay } from '../kube/access.ts';
import { useObject } from '../kube/hooks.ts';
import { CREDENTIALS, type CredentialObject } from '../kube/resources.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { TextLink } from '../ui/links.tsx';
import { ago, fullTime } from '../ui/format.ts';
import { CopyLine } from '../ui/copy.tsx';
import { CheckPanel } from './CheckPanel.tsx';
import { withoutCommand } from './commandText.ts';
import { ConnectButton } from './ConnectButton.tsx';
import { CredentialEditDialog } from './CredentialDialogs.tsx';
import { DeleteCredential } from './DeleteCredential.tsx';
import { hostsText } from './hosts.ts';
import { credentialState, readyOf } from './state.ts';
import type { Use } from './usage.ts';
import classes from './credentials.module.css';

type Props = {
  project: string;
  name: string;
  /** Undefined while loading, null if the user may not read workflows. */
  uses: readonly Use[] | null | undefined;
};

export function CredentialDetails({ project, name, uses }: Props) {
  const { data: credential, error, refetch } = useObject(CREDENTIALS, project, name);
  if (credential === undefined)
    return error === null ? (
      <Skeleton h={60} />
    ) : (
      <FailureNote error={error} onRetry={() => void refetch()} />
    );
  if (credential === null) return <Text size="sm">This credential no longer exists.</Text>;
  return <Details credential={credential} uses={uses} />;
}

type DetailsProps = { credential: CredentialObject; uses: Props['uses'] };

function Details({ credential, uses }: DetailsProps) {
  const { namespace = '', name } = credential.metadata;
  const { status } = credential;
  const ready = readyOf(status);
  const { advice } = credentialState(ready ?? {});
  const { text, command } = withoutCommand(ready?.message ?? '');
  const at = { resource: CREDENTIALS, namespace, name } as const;
  const mayPatch = useMay({ verb: 'patch', ...at });
  const mayConnect = useMay({ verb: 'update', ...at });
  return (
    <Stack gap="xs" py="xs" pl={{ base: 0, sm: 42 }}>
      {ready !== undefined && (
        <Text size="sm" className={classes['wrap'] ?? ''}>
          {text}
        </Text>
      )}
      {advice !== undefined && (
        <Text size="sm" c="dimmed">
          {advice}
        </Text>
      )}
      {command !== undefined && (
        <Text size="sm" c="dimmed" component="div" maw={760}>
          Or on the command line:
          <CopyLine text={command} what="command" />
        </Text>
      )}
      {credential.spec.oauth2 !== undefined && mayConnect && <ConnectButton credential={credential} />}
      {mayPatch && <CheckPanel credential={credential} />}
      <Facts credential={credential} />
      <Fact label="Used by">
        <Uses namespace={namespace} uses={uses} />
      </Fact>
      <Actions credential={credential} uses={uses} mayPatch={mayPatch} />
    </Stack>
  );
}

function Facts({ credential: { spec, status } }: { credential: CredentialObject }) {
  const { account, lastChecked, expires, models = [], grantedScopes = [] } = status ?? {};
  return (
    <>
      {account !== undefined && <Fact label="Account">{account}</Fact>}
      {(spec.http ?? spec.oauth2) !== undefined && <Fact label="Allowed hosts">{hostsText(spec)}</Fact>}
      {lastChecked !== undefined && <Fact label="Last checked">{timeText(lastChecked)}</Fact>}
      {expires !== undefined && (
        <Fact label="Expires">
          {timeText(expires)}
          {spec.oauth2 === undefined ? '' : '; renewed automatically where the provider allows it'}
        </Fact>
      )}
      {models.length > 0 && <Fact label="Models">{models.join(', ')}</Fact>}
      {grantedScopes.length > 0 && <Fact label="Scopes">{grantedScopes.join(', ')}</Fact>}
    </>
  );
}

function timeText(time: string): string {
  return `${ago(time, Date.now())} (${fullTime(time)})`;
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group gap="xs" wrap="nowrap" align="baseline">
      <Text size="xs" c="dimmed" w={88} style={{ flexShrink: 0 }}>
        {label}
      </Text>
      <Text size="sm" component="div" className={classes['wrap'] ?? ''}>
        {children}
      </Text>
    </Group>
  );
}

function Uses({ namespace, uses }: { namespace: string; uses: Props['uses'] }) {
  if (uses === undefined) return '…';
  if (uses === null) return 'You are not allowed to read the workflows of this project.';
  if (uses.length === 0) return 'No workflow';
  return uses.map(({ workflow, displayName, nodes, isDraft }, at) => (
    <span key={workflow}>
      {at > 0 && ', '}
      <TextLink
        to="/p/$project/workflows/$workflow"
        params={{ project: namespace, workflow }}
        search={nodes[0] === undefined ? {} : { node: nodes[0].id }}
        size="sm"
      >
        {displayName}
      </TextLink>{' '}
      ({isDraft && 'draft: '}
      {nodes.map(({ name }) => name).join(', ')})
    </span>
  ));
}

function Actions({ credential, uses, mayPatch }: DetailsProps & { mayPatch: boolean }) {
  const { namespace = '', name } = credential.metadata;
  const mayDelete = useMay({ verb: 'delete', resource: CREDENTIALS, namespace, name });
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const kind = Object.keys(credential.spec)[0] as CredentialKind | undefined;
  const close = () => setDialog(undefined);
  return (
    <Group gap="xs" mt={4}>
      {mayPatch && kind !== undefined && (
        <Button variant="default" leftSection={<IconPencil size={14} />} onClick={() => setDialog('edit')}>
          Edit
        </Button>
      )}
      {mayDelete && (
        <Button
          variant="light"
          color="red"
          leftSection={<IconTrash size={14} />}
          onClick={() => setDialog('delete')}
        >
          Delete
        </Button>
      )}
      {dialog === 'edit' && kind !== undefined && (
        <CredentialEditDialog credential={credential} kind={kind} onClose={close} />
      )}
      {dialog === 'delete' && <DeleteCredential credential={credential} uses={uses} onClose={close} />}
    </Group>
  );
}
