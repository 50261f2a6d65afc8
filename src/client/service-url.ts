/**
 * The URL of the service that sent a script, with a trailing slash: the script's URL without its
 * file name, and without the version of a permanent address (`v/{hash}/`).
 */
export const serviceUrlOf = ({ origin, pathname }: URL): string =>
  origin + pathname.replace(/(?:\/v\/[0-9a-f]{64})?\/[^/]*\.(?:js|ts)$/, "/").replace(/\/*$/, "/");
