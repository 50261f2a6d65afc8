import nock from "nock";

// The import of nock intercepts all requests of the process: `restore` ends that.
nock.restore();

export interface RecordedRequest {
  readonly path: string;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type RecordedResponse = readonly [
  status: number,
  body?: string | Buffer,
  headers?: Readonly<Record<string, string>>,
];

/**
 * Intercepts the requests that `run` sends to these origins: records each, and responds with what
 * `response` returns and its Content-Length.
 */
export const recordRequests = async (
  origins: readonly string[],
  response: (request: RecordedRequest) => RecordedResponse,
  run: () => Promise<unknown>,
): Promise<readonly RecordedRequest[]> => {
  const requests: RecordedRequest[] = [];
  nock.activate();
  try {
    nock.disableNetConnect();
    for (const origin of origins) {
      for (const method of ["get", "post"] as const) {
        const interceptor = nock(origin).persist()[method](/.*/);
        interceptor.reply(async (sent: Request) => {
          const { pathname, search } = new URL(sent.url);
          const headers = Object.fromEntries(sent.headers);
          const request = { path: pathname + search, headers, body: await sent.text() };
          requests.push(request);
          const [status, body = "", more] = response(request);
          return [status, body, { "Content-Length": String(Buffer.byteLength(body)), ...more }];
        });
      }
    }
    await run();
    return requests;
  } finally {
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
  }
};
