/** Creates a workflow: by name and trigger, from a template, from YAML that is pasted, or from a file. */
import { Modal, Tabs } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconFileCode, IconFileImport, IconSchema, IconTemplate } from '@tabler/icons-react';
import { useState } from 'react';
import { useTable } from '../kube/hooks.ts';
import { CREDENTIALS } from '../kube/resources.ts';
import { textCell } from '../kube/table.ts';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import type { KnownCredential } from './create.ts';
import { CreateByName } from './CreateByName.tsx';
import { CreateByTemplate } from './CreateByTemplate.tsx';
import { CreateByYaml } from './CreateByYaml.tsx';
import { FilePick } from './FilePick.tsx';

export type CreateTab = 'name' | 'template' | 'yaml' | 'file';

const TABS: readonly { value: CreateTab; label: string; icon: typeof IconSchema }[] = [
  { value: 'name', label: 'New', icon: IconSchema },
  { value: 'template', label: 'Template', icon: IconTemplate },
  { value: 'yaml', label: 'Paste YAML', icon: IconFileCode },
  { value: 'file', label: 'Import a file', icon: IconFileImport },
];

type Props = { project: string; taken: ReadonlySet<string>; tab: CreateTab; onClose: () => void };

export function CreateDialog({ project, taken, tab: firstTab, onClose }: Props) {
  useReturnFocus();
  const [tab, setTab] = useState<CreateTab>(firstTab);
  const [text, setText] = useState('');
  const isNarrow = useMediaQuery('(max-width: 36em)');
  const table = useTable(CREDENTIALS, project, { maxPages: 1 });
  const credentials: KnownCredential[] = (table.data?.rows ?? []).map((row) => ({
    name: row.metadata.name,
    kind: textCell(row, 'Kind') ?? '',
  }));
  const shared = { project, taken };
  return (
    <Modal opened onClose={onClose} title="Create a workflow" size="xl" fullScreen={isNarrow}>
      <Tabs value={tab} onChange={(value) => setTab(value as CreateTab)} keepMounted={false}>
        <Tabs.List mb="md">
          {TABS.map(({ value, label, icon: Icon }) => (
            // Without icons all of them fit on one line of a narrow screen.
            <Tabs.Tab
              key={value}
              value={value}
              {...(isNarrow ? { px: 'xs' } : { leftSection: <Icon size={16} /> })}
            >
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="name">
          <CreateByName {...shared} credentials={credentials} />
        </Tabs.Panel>
        <Tabs.Panel value="template">
          <CreateByTemplate {...shared} credentials={credentials} />
        </Tabs.Panel>
        <Tabs.Panel value="yaml">
          <CreateByYaml {...shared} text={text} onText={setText} />
        </Tabs.Panel>
        <Tabs.Panel value="file">
          <FilePick
            onText={(read) => {
              setText(read);
              setTab('yaml');
            }}
          />
        </Tabs.Panel>
      </Tabs>
    </Modal>
  );
}
