import {
  type Credentials,
  type CredentialsEvent,
  credentialsStream,
  evolveCredentials,
  initialCredentials,
} from "../src/domain/accounts/credentials.ts";
import type { Projection } from "./projection.ts";

/** Each website's credentials, sealed, with the voices behind them; the partition is their stream, `credentials-{websiteId}`. */
export const credentials: Projection<Credentials> = {
  name: "credentials",
  version: 1,
  prefixes: [credentialsStream("")],
  partition: ({ stream }) => stream,
  initial: initialCredentials,
  apply: (state, { type, data }) => evolveCredentials(state, { type, data } as CredentialsEvent),
};
