import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from "node:tls";
import { expect } from "chai";
import { AudioStoreUnavailable } from "../../../src/audio/store/audio-store.ts";
import { openS3AudioStore } from "../../../src/audio/store/s3/s3-audio-store.ts";
import { duringSuite } from "../../support/during.ts";
import { startMinio } from "../../support/minio.ts";
import { nameOf, objectOf, soundOf } from "../pipeline/sounds.ts";

describe("The S3 audio store over TLS", () => {
  const minio = duringSuite(startMinio);
  const trusted = getCACertificates("default");
  let folder: string;
  let certificate: string;
  let tls: Server;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-tls-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    const kind = [
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ];
    execFileSync("openssl", ["req", ...kind, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
    certificate = await readFile(cert, "utf8");
    tls = createServer({ key: await readFile(key), cert: certificate }, (near) => {
      const far = connect(minio.port, "127.0.0.1");
      near.on("error", () => far.destroy()).pipe(far);
      far.on("error", () => near.destroy()).pipe(near);
    }).listen(0, "127.0.0.1");
    await once(tls, "listening");
  });
  afterEach(() => setDefaultCACertificates(trusted));
  after(async () => {
    tls?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const place = () => minio.location("by-tls", { tls: true, port: (tls.address() as AddressInfo).port });

  it("sends no request to a server whose certificate is not trusted", async () => {
    const warnings: string[] = [];
    const store = await openS3AudioStore({ ...place(), warn: (sentence) => warnings.push(sentence) });
    expect(warnings[0]).to.match(/^The audio store cannot be opened: (DEPTH_ZERO_)?SELF_SIGNED_CERT\w*\. /);
    const error = await store.put(nameOf(1), objectOf(soundOf(1))).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(AudioStoreUnavailable);
    await store.close();
  });

  it("stores objects as it does without TLS", async () => {
    setDefaultCACertificates([...trusted, certificate]);
    const store = await openS3AudioStore(place());
    const large = randomBytes(1024 * 1024);
    await store.put(nameOf(1), objectOf(large));
    await store.put(nameOf(1), objectOf(soundOf(1)));
    expect(large.equals((await store.get(nameOf(1)))?.bytes as Buffer)).to.equal(true);
    expect(await store.get(nameOf(2))).to.equal(undefined);
    await store.close();
  });
});
