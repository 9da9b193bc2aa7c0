/** A label with small buttons at the right. */
type Props = { label: string; isRequired?: boolean; actions: React.ReactNode };

export function FieldLabel({ label, isRequired = false, actions }: Props) {
  return (
    <span style={{ display: 'flex', alignItems: 'center', gap: 4, minHeight: 22, paddingBottom: 2 }}>
      <span>{label}</span>
      {isRequired && (
        <span aria-hidden style={{ color: 'var(--mantine-color-error)' }}>
          *
        </span>
      )}
      <span style={{ flex: 1 }} />
      {actions}
    </span>
  );
}
