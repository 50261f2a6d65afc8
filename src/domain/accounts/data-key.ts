/**
 * The stream of a website's data key. It is not sealed: see `sealedPrefixes`. So it can be deleted,
 * and nothing that is proven depends on it.
 */
export const dataKeyPrefix = "data-key-";
export const dataKeyStream = (websiteId: string): string => `${dataKeyPrefix}${websiteId}`;

/** True for a name or an origin that its data key has encrypted. */
export const isEncrypted = (text: string): boolean => /^encrypted:v1\.[\w-]{38,}$/.test(text);
