interface Closable {
  close?(): unknown;
  stop?(): unknown;
  remove?(): unknown;
}

/** What is open for each suite, and for the running test of each suite. */
const openIn = {
  suite: new WeakMap<Mocha.Suite, Closable[]>(),
  test: new WeakMap<Mocha.Suite, Closable[]>(),
};

/** Closes `opened` after the suite's own hooks, and before what was opened earlier. */
const closeAfter = (scope: keyof typeof openIn, suite: Mocha.Suite, opened: Closable): void => {
  const open = openIn[scope].get(suite);
  if (open) return void open.push(opened);
  const all = [opened];
  openIn[scope].set(suite, all);
  suite[scope === "suite" ? "afterAll" : "afterEach"](async () => {
    for (const one of all.splice(0).reverse()) await (one.close ?? one.stop ?? one.remove)?.call(one);
  });
};

const openDuring =
  (scope: keyof typeof openIn) =>
  <T extends object>(open: () => T | Promise<T>): T => {
    let opened: T | undefined;
    (scope === "suite" ? before : beforeEach)(async function () {
      opened = await open();
      if (this.test?.parent) closeAfter(scope, this.test.parent, opened);
    });
    return lazily(() => {
      if (opened === undefined) throw new Error("The suite has not begun.");
      return opened;
    });
  };

/** Looks up each member in the value when it is accessed: the value is opened later. */
const lazily = <T extends object>(value: () => T): T =>
  new Proxy({} as T, {
    get: (_, name) => {
      const member: unknown = Reflect.get(value(), name);
      return typeof member === "function" ? member.bind(value()) : member;
    },
    set: (_, name, member) => Reflect.set(value(), name, member),
    ownKeys: () => Reflect.ownKeys(value()),
    getOwnPropertyDescriptor: (_, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(value(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });

/**
 * Opens something before the suite that calls this function, and closes it after the suite, by its
 * method `close`, `stop` or `remove`. The members of the result may be read in hooks and tests
 * only.
 */
export const duringSuite = openDuring("suite");

/** Like `duringSuite`, before and after each test of the suite. */
export const duringTest = openDuring("test");
