/** An input for a number that keeps what is typed until it is one: `0.` on the way to 0.7. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';
import { numberIn, shownNumber, type Typed } from '../typedNumber.ts';

type Props = Omit<NumberInputProps, 'value' | 'onChange' | 'clampBehavior'> & {
  value: unknown;
  onChange: (value: number | undefined) => void;
};

export function TypedNumberInput({ value, onChange, ...others }: Props) {
  const [typed, setTyped] = useState<Typed>('');
  return (
    <NumberInput
      {...others}
      value={shownNumber(typed, value)}
      onChange={(next) => {
        setTyped(next);
        onChange(numberIn(next));
      }}
      // A number out of bounds is an error of the field: another one in its place might not be noticed.
      clampBehavior="none"
    />
  );
}
