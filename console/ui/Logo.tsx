/** The logo of Windlass: a drum with a rope, in the accent color. */
export function Logo({ size }: { size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--mantine-color-windlass-7)" />
      <path d="M7 10h18M7 22h18M11 10v12M21 10v12" stroke="#fff" strokeWidth="2.4" strokeLinecap="round" />
      <circle cx="16" cy="16" r="3.6" fill="#fff" />
    </svg>
  );
}
