interface Waiting {
  readonly characters: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Requests that wait for characters, in order. */
export class WaitingRequests {
  #requests: Waiting[] = [];

  get characters(): number[] {
    return this.#requests.map(({ characters }) => characters);
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0;
  }

  add(characters: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#requests.push({ characters, resolve, reject });
    });
  }

  /** Resolves the first requests, as far as the available characters suffice for all of them. */
  grant(available: number): void {
    let left = available;
    for (let first = this.#requests[0]; first && first.characters <= left; first = this.#requests[0]) {
      left -= first.characters;
      this.#requests.shift();
      first.resolve();
    }
  }

  /** Rejects those of the first `count` requests that need more than the available characters. */
  refuse(count: number, available: number, error: unknown): void {
    const requests = this.#requests;
    const isRefused = ({ characters }: Waiting, index: number): boolean =>
      index < count && characters > available;
    this.#requests = requests.filter((request, index) => !isRefused(request, index));
    for (const { reject } of requests.filter(isRefused)) reject(error);
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#requests.splice(0)) reject(error);
  }
}
