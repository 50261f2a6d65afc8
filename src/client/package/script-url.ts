/**
 * The URL of a script that is not a module. It replaces `import.meta.url` there. Undefined in Node.
 */
const script = globalThis.document?.currentScript as HTMLScriptElement | null | undefined;

export const scriptUrl: string | undefined = script?.src;
