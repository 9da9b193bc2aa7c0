/** Creates a workflow: by name and trigger, from a template, from YAML that is pasted, or from a file. */
import { Modal, Tabs } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconFileCode, IconFileImport, IconSchema, IconTemplate } from '@tabler/icons-react';
import { useState } from 'react';
import { useTable } from '../kube/hooks.ts';
import { CREDENTIALS } from '../kube/resources.ts';
import { textCell } from '../kube/table.ts';
import { useReturnFocus } from '../shell/useReturnFocus.ts';
import type { KnownCredential } from './create.ts';
import { CreateByName } from './CreateByName.tsx';
import { CreateByTemplate } from './CreateByTemplate.tsx';
import { CreateByYaml } from './CreateByYaml.tsx';
import { FilePick } from './FilePick.tsx';

export type CreateTab = 'name' | 'template' | 'yaml' | 'file';

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
          <Tabs.Tab value="name" leftSection={<IconSchema size={16} />}>
            New
          </Tabs.Tab>
          <Tabs.Tab value="template" leftSection={<IconTemplate size={16} />}>
            Template
          </Tabs.Tab>
          <Tabs.Tab value="yaml" leftSection={<IconFileCode size={16} />}>
            Paste YAML
          </Tabs.Tab>
          <Tabs.Tab value="file" leftSection={<IconFileImport size={16} />}>
            Import a file
          </Tabs.Tab>
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
