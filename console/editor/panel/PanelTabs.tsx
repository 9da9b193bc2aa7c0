/** The parts of a node's panel as tabs or, in the expanded panel, input, settings and output side by side. */
import { Tabs, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { useEditorPart, useEditorStore, type PanelTab } from '../store/store.ts';
import classes from './NodePanel.module.css';

type TabContent = { label: string; content: ReactNode };

export type PanelTabContents = Record<Exclude<PanelTab, 'sent'>, TabContent> & { sent?: TabContent };

type TabsProps = { tabs: PanelTabContents; shown: PanelTab; order: readonly PanelTab[] };

/** Tabs into which a value is dragged open when it is over them, so that it can be dropped into a field. */
const WITH_FIELDS: readonly PanelTab[] = ['parameters', 'options'];

export function PanelTabs({ tabs, shown, order }: TabsProps) {
  const { showTab } = useEditorStore();
  const parts = order.flatMap((name) => {
    const tab = tabs[name];
    return tab === undefined ? [] : { name, ...tab };
  });
  return (
    <Tabs
      value={shown}
      onChange={(next) => showTab(next as PanelTab)}
      className={classes['tabs'] ?? ''}
      keepMounted={false}
    >
      <Tabs.List>
        {parts.map(({ name, label }) => (
          <Tabs.Tab
            key={name}
            value={name}
            {...(WITH_FIELDS.includes(name) && { onDragEnter: () => showTab(name) })}
          >
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <div className={classes['body'] ?? ''}>
        {parts.map(({ name, content }) => (
          <Tabs.Panel key={name} value={name}>
            {content}
          </Tabs.Panel>
        ))}
      </div>
    </Tabs>
  );
}

const SETTINGS: readonly PanelTab[] = ['parameters', 'options', 'sent', 'connections'];

/** The tab of the narrow panel is kept; those that have a column of their own show the parameters. */
export function PanelColumns({ tabs }: { tabs: PanelTabContents }) {
  const tab = useEditorPart((state) => state.tab);
  return (
    <div className={classes['columns']}>
      <Column label={tabs.input.label}>{tabs.input.content}</Column>
      <div className={classes['middle']}>
        <PanelTabs tabs={tabs} shown={SETTINGS.includes(tab) ? tab : 'parameters'} order={SETTINGS} />
      </div>
      <Column label={tabs.output.label}>{tabs.output.content}</Column>
    </div>
  );
}

function Column({ label, children }: { label: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes['column']} aria-labelledby={id}>
      <Title order={2} size="sm" className={classes['columnTitle'] ?? ''} id={id}>
        {label}
      </Title>
      {/* It scrolls, so it takes the focus. */}
      <div className={classes['columnBody']} tabIndex={0} role="group" aria-labelledby={id}>
        {children}
      </div>
    </section>
  );
}
