/** Fields for the values of a template that stand for those of the project. */
import { Fieldset, SimpleGrid, TextInput } from '@mantine/core';
import type { Completion } from './completions.ts';

type Props = {
  completions: readonly Completion[];
  /** By the value of the template. */
  answers: ReadonlyMap<string, string>;
  onAnswer: (value: string, answer: string) => void;
};

/** Nothing, if the template has no such values. */
export function CompletionFields({ completions, answers, onAnswer }: Props) {
  if (completions.length === 0) return null;
  return (
    <Fieldset legend="Values to complete" p="sm" m={0}>
      <SimpleGrid cols={{ base: 1, sm: Math.min(2, completions.length) }} spacing="sm">
        {completions.map(({ value, label }) => (
          <TextInput
            key={value}
            label={label}
            description={`The template has "${value}" there.`}
            placeholder={value}
            value={answers.get(value) ?? ''}
            onChange={(event) => onAnswer(value, event.currentTarget.value)}
            styles={{ description: { overflowWrap: 'anywhere' } }}
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  );
}
