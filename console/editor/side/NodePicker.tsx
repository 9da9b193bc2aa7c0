/** The search for a new node, by keyboard or pointer, which adds it at its place. */
import { CloseButton, Combobox, Group, Text, TextInput, ThemeIcon, Title, useCombobox } from '@mantine/core';
import { IconKey, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { credentialKindLabel } from '../../credentials/choices.ts';
import { listObjects } from '../../kube/objects.ts';
import { CREDENTIALS, type CredentialObject } from '../../kube/resources.ts';
import { newNode, type Known } from '../canvas/newNode.ts';
import { addInside } from '../model/grouping.ts';
import { addNode, insertOnEdge, triggerOf, type Draft } from '../model/model.ts';
import { useEditorPart, useEditorStore, type EditorStore, type PickerPlace } from '../store/store.ts';
import { offers, type Offer } from './choices.ts';
import { searchHint } from './hints.ts';
import classes from './side.module.css';

export function NodePicker({ place }: { place: PickerPlace }) {
  const store = useEditorStore();
  const namespace = useEditorPart((state) => state.namespace);
  const hasTrigger = useEditorPart(({ draft }) => triggerOf(draft) !== undefined);
  const known = useKnownCredentials(namespace);
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const combobox = useCombobox({ opened: true });
  const what = place.kind === 'trigger' || !hasTrigger ? 'triggers' : 'steps';
  const shown = offers(what, text);
  const hint = what === 'steps' ? searchHint(text) : undefined;
  useEffect(() => input.current?.focus(), [place]);
  useEffect(() => {
    combobox.selectFirstOption();
  }, [text, what]);
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(key) => {
        const offer = shown.find((other) => other.key === key);
        if (offer) insert(store, place, { offer, known });
      }}
    >
      <div className={classes['head']}>
        <Title order={2} size="h5">
          {what === 'triggers' ? 'Choose a trigger' : titleOf(place)}
        </Title>
        <CloseButton aria-label="Close" onClick={() => store.closePanel()} />
      </div>
      <Combobox.EventsTarget>
        <TextInput
          ref={input}
          mx={12}
          mb={8}
          aria-label="Search nodes"
          placeholder="Search nodes"
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </Combobox.EventsTarget>
      {hint !== undefined && (
        <Text size="xs" px={12} pb={8} role="status">
          {hint}
        </Text>
      )}
      <div className={classes['options']} tabIndex={0} role="group" aria-label="Node types">
        <Combobox.Options aria-label="Nodes">
          {[...Map.groupBy(shown, ({ group }) => group)].map(([group, list]) => (
            <Combobox.Group key={group} label={group}>
              {list.map((offer) => (
                <OfferOption key={offer.key} offer={offer} />
              ))}
            </Combobox.Group>
          ))}
          {shown.length === 0 && <Combobox.Empty>No node matches "{text.trim()}"</Combobox.Empty>}
        </Combobox.Options>
      </div>
    </Combobox>
  );
}

function OfferOption({ offer }: { offer: Offer }) {
  const { key, label, description, needs, icon: Icon, color } = offer;
  return (
    <Combobox.Option value={key} className={classes['option'] ?? ''}>
      <ThemeIcon size={30} variant="light" color={color} aria-hidden>
        <Icon size={18} />
      </ThemeIcon>
      <div>
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <Text size="xs" c="dimmed" lh={1.35}>
          {description}
        </Text>
        {needs !== '' && (
          <Group gap={4} className={classes['tag'] ?? ''}>
            <IconKey size={11} aria-hidden />
            needs a credential: {needs.split(' or ').map(credentialKindLabel).join(' or ')}
          </Group>
        )}
      </div>
    </Combobox.Option>
  );
}

function titleOf(place: PickerPlace): string {
  if (place.kind === 'between') return 'Insert a node';
  if (place.kind === 'inside') return 'Add a node to the group';
  return place.kind === 'after' ? 'Add the next step' : 'Add a node';
}

function insert(store: EditorStore, place: PickerPlace, chosen: { offer: Offer; known: Known[] }): void {
  const { draft } = store.get();
  const node = newNode(draft, chosen.offer.choice, chosen.known, {
    after: place.kind === 'after' ? place.node : place.kind === 'between' ? place.edge.from : undefined,
    inside: place.kind === 'inside' ? place.group : undefined,
  });
  store.apply((before) => placed(before, place, node));
  store.openNode(node.id);
}

function placed(draft: Draft, place: PickerPlace, node: ReturnType<typeof newNode>): Draft {
  switch (place.kind) {
    case 'after':
      return addNode(draft, node, place.node, place.position);
    case 'between':
      return insertOnEdge(draft, place.edge, node);
    case 'inside':
      return addInside(draft, node, place.group);
    case 'free':
      return addNode(draft, node, undefined, place.position);
    case 'trigger':
      return addNode(draft, node);
  }
}

/** The credentials of the project; empty if the user may not list them. */
function useKnownCredentials(namespace: string): Known[] {
  const { data = [] } = useQuery({
    queryKey: ['known-credentials', namespace],
    staleTime: 10_000,
    retry: false,
    queryFn: async ({ signal }) =>
      (await listObjects(CREDENTIALS, namespace, { limit: 500, signal })).items.map(knownOf),
  });
  return data;
}

function knownOf({ metadata, spec, status }: CredentialObject): Known {
  const kind = Object.keys(spec)[0] ?? '';
  return { name: metadata.name, kind, models: status?.models ?? [] };
}
