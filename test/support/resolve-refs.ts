/** A JSON document with each internal `$ref` replaced by its target. */
export const resolveRefs = (document: object): unknown => {
  const lookUp = (pointer: string): unknown =>
    pointer
      .slice("#/".length)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], document);

  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    if ("$ref" in value && typeof value.$ref === "string") return resolve(lookUp(value.$ref));
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(document);
};
