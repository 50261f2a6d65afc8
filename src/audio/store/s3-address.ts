import { isIP } from "node:net";

/** The address of a bucket and its credentials. */
export interface S3Address {
  readonly endpoint: string;
  readonly port: number;
  readonly tls: boolean;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  readonly region: string;
}

/** Its message contains nothing of the address. */
export class BadS3Address extends Error {
  override readonly name = "BadS3Address";
}

/**
 * Parses `s3://ACCESS:SECRET@HOST[:PORT]/BUCKET[?tls=true&region=us-east-1]`. In the access key and
 * the secret, all characters except letters and digits are percent-encoded.
 * @throws {BadS3Address}
 */
export const parseS3Address = (address: string): S3Address => {
  const url = URL.parse(address);
  must(url?.protocol === "s3:", "must be s3://ACCESS:SECRET@HOST:PORT/BUCKET, the secrets percent-encoded");
  const query = Object.fromEntries(url.searchParams);
  const { tls = "true", region = "us-east-1", ...unknown } = query;
  must(Object.keys(unknown).length === 0 && !url.hash, "takes no parameters but tls and region");
  must(tls === "true" || tls === "false", "must have tls=true or tls=false");
  must(/^[a-z0-9-]{1,32}$/.test(region), "must have a region like us-east-1");
  const accessKey = decoded(url.username);
  const secretKey = decoded(url.password);
  must(accessKey !== "" && secretKey !== "", "must have an access key and a secret");
  const bucket = url.pathname.slice(1);
  must(isBucketName(bucket), "must have a bucket of 3 to 63 of a-z, 0-9, - and . as its path");
  const endpoint = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  must(isIP(endpoint) > 0 || isHostName(endpoint), "must have the server's name or address");
  const port = Number(url.port || (tls === "true" ? 443 : 80));
  return { endpoint, port, tls: tls === "true", accessKey, secretKey, bucket, region };
};

function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new BadS3Address(what);
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new BadS3Address("must have its secrets percent-encoded");
  }
};

const isBucketName = (name: string): boolean =>
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) && !name.includes("..") && isIP(name) === 0;

const isHostName = (name: string): boolean => /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(name);
