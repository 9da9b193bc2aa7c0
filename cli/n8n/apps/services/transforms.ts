/** Functions that nodes of services apply to values of parameters, as JavaScript. */
export const TRANSFORMS: Record<string, (value: string) => string> = {
  base64: (value) =>
    `btoa(Array.from(new TextEncoder().encode(String(${value})), (byte) => String.fromCharCode(byte)).join(''))`,
  /** Addresses with commas, as Microsoft Graph has them. */
  recipients: (value) =>
    `String(${value}).split(',').map((address) => ({ emailAddress: { address: address.trim() } }))`,
  /** A list, also where the parameter is a text with commas. */
  list: (value) =>
    `[${value}].flat().flatMap((each) => (typeof each === 'string' ? each.split(',') : [each]))`,
  /** The format of LinkedIn gives these characters a meaning. */
  linkedInText: (value) => String.raw`String(${value}).replace(/[(*)\[\]{}<>@|~_]/g, '\\$&')`,
};
