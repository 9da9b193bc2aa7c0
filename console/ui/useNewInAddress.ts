/** Opens the dialog for a new object when the address asks for it (`?new=true`), and removes that from it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

export function useNewInAddress(
  from: '/p/$project/workflows' | '/p/$project/credentials',
  mayCreate: boolean,
  open: () => void,
): void {
  const { new: isAsked } = useSearch({ from });
  const navigate = useNavigate({ from });
  useEffect(() => {
    if (isAsked !== true || !mayCreate) return;
    open();
    void navigate({ search: ({ new: _new, ...others }) => others, replace: true });
  }, [isAsked, mayCreate, navigate]);
}
