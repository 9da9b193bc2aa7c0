export const kindProvider = undefined as never;
export const isKindUsable = async () => false;
