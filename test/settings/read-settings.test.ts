import { expect } from "chai";
import { BadSetting, readSettings } from "../../src/settings/read-settings.ts";

describe("settings", () => {
  it("have defaults", () => {
    const settings = readSettings({});
    expect(settings).to.deep.include({
      host: "127.0.0.1",
      port: 8080,
      headerPrefix: "SVC",
      maxTextCharacters: 5000,
    });
    expect(settings.eventStore).to.deep.equal({ kind: "sqlite", path: "data/events.db" });
    expect(settings.audioStore).to.deep.equal({ kind: "file", path: "data/audio" });
  });

  it("leave the burst limit to the plan by default", () => {
    expect(readSettings({}).limits.BURST_LIMIT).to.equal(undefined);
    expect(readSettings({ BURST_LIMIT: "5" }).limits.BURST_LIMIT).to.equal(5);
  });

  it("treat an empty variable as unset", () => {
    const settings = readSettings({ PORT: "", ADMIN_TOKEN: "", PUBLIC_URL: "" });
    expect(settings).to.deep.include({ port: 8080, adminTokens: [], publicUrl: undefined });
  });

  it("refuse an idle time of models that is longer than a timer of Node, which would end at once", () => {
    expect(readSettings({ MODEL_IDLE_SECONDS: "2147483" }).models.limits.idleMs).to.be.below(2 ** 31);
    expect(() => readSettings({ MODEL_IDLE_SECONDS: "2147484" })).to.throw(
      BadSetting,
      "must be from 1 to 2147483",
    );
  });

  it("accept other paths for the stores", () => {
    const { eventStore, audioStore } = readSettings({
      EVENT_STORE: "sqlite:/x/e.db",
      AUDIO_STORE: "file:/y",
    });
    expect(eventStore).to.deep.equal({ kind: "sqlite", path: "/x/e.db" });
    expect(audioStore).to.deep.equal({ kind: "file", path: "/y" });
  });

  it("accept an EventStoreDB connection string", () => {
    for (const url of ["esdb://a:b@one:2113,two:2113?tls=true", "esdb+discover://cluster.example:2113"]) {
      expect(readSettings({ EVENT_STORE: url }).eventStore).to.deep.equal({ kind: "esdb", url });
    }
  });

  it("accept an S3 bucket, with TLS by default", () => {
    const { audioStore } = readSettings({
      AUDIO_STORE: "s3://voxledger:s%2Fe%2Bc%3Dr%40t@Minio.internal:9000/sounds?tls=false&region=eu-west-1",
    });
    expect(audioStore).to.deep.equal({
      ...{ kind: "s3", endpoint: "minio.internal", port: 9000, tls: false, bucket: "sounds" },
      ...{ accessKey: "voxledger", secretKey: "s/e+c=r@t", region: "eu-west-1" },
    });
    expect(readSettings({ AUDIO_STORE: "s3://a:b@[::1]/sounds" }).audioStore).to.include({
      ...{ endpoint: "::1", port: 443, tls: true, region: "us-east-1" },
    });
  });

  it("accept voices for names of OpenAI's API", () => {
    const { openAiVoices } = readSettings({ OPENAI_VOICE_MAP: "alloy = German Female,onyx=g1-en-GB-male," });
    expect(openAiVoices).to.deep.equal({ alloy: "German Female", onyx: "g1-en-GB-male" });
    for (const wrong of ["alloy", "alloy=", "=German Female", "a=b=c"]) {
      expect(() => readSettings({ OPENAI_VOICE_MAP: wrong }), wrong).to.throw(BadSetting, "NAME=VOICE");
    }
  });

  it("accept engines for models of OpenAI's API", () => {
    const { openAiModels } = readSettings({ OPENAI_MODEL_MAP: "kokoro = g1,piper=any," });
    expect(openAiModels).to.deep.equal({ kokoro: "g1", piper: "any" });
    for (const wrong of ["kokoro", "kokoro=", "=g1", "a=g1=g2"]) {
      expect(() => readSettings({ OPENAI_MODEL_MAP: wrong }), wrong).to.throw(BadSetting, "MODEL=ENGINE");
    }
    for (const wrong of ["kokoro=g4", "kokoro=G1"]) {
      expect(() => readSettings({ OPENAI_MODEL_MAP: wrong }), wrong).to.throw(BadSetting, "any, g1, g2");
    }
  });

  it("accept previous master keys, in order", () => {
    const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const listed = `${a.toString("base64")}, ${b.toString("base64")},`;
    expect(readSettings({ MASTER_KEY_PREVIOUS: listed }).previousMasterKeys).to.deep.equal([a, b]);
    expect(readSettings({}).previousMasterKeys).to.deep.equal([]);
    expect(readSettings({ SEAL_KEY_PREVIOUS: listed }).previousSealKeys).to.deep.equal([a, b]);
  });

  it("accept a self-hosted server for an engine", () => {
    const { selfHosted } = readSettings({
      ENGINE_G1: "openai:http://127.0.0.1:8880/v1/?model=kokoro&voices=af_bella,bm_george&key=s%26k",
      ENGINE_G5: "openai:https://tts.example?model=m&voices=anahit@hy-AM:f",
    });
    expect(selfHosted).to.deep.equal({
      g1: {
        ...{ baseUrl: "http://127.0.0.1:8880/v1", model: "kokoro", apiKey: "s&k" },
        voices: [
          { name: "af_bella", lang: "en-US", gender: "f" },
          { name: "bm_george", lang: "en-GB", gender: "m" },
        ],
      },
      g5: {
        ...{ baseUrl: "https://tts.example", model: "m" },
        voices: [{ name: "anahit", lang: "hy-AM", gender: "f" }],
      },
    });
    expect(readSettings({}).selfHosted).to.deep.equal({});
  });

  it("accept folders of models for the engines g1 to g3", () => {
    const { modelPaths, selfHosted } = readSettings({
      ENGINE_G1: "sherpa:/models/a, /models/b/",
      ENGINE_G2: "openai:https://tts.example?model=m&voices=v",
    });
    expect(modelPaths).to.deep.equal({ g1: ["/models/a", "/models/b"] });
    expect(Object.keys(selfHosted)).to.deep.equal(["g2"]);
    for (const value of ["sherpa:", "sherpa:models/a", "sherpa:/a,/a"]) {
      expect(() => readSettings({ ENGINE_G3: value })).to.throw(BadSetting, /^ENGINE_G3: must [^\n]+$/);
    }
    expect(() => readSettings({ ENGINE_G5: "sherpa:/models/a" })).to.throw(BadSetting, /^ENGINE_G5: must /);
  });

  it("refuse loopback addresses in websites' credentials unless allowed", () => {
    expect(readSettings({}).upstreamNetworks.allowLoopback).to.equal(false);
    expect(readSettings({ ALLOW_LOOPBACK_UPSTREAMS: "true" }).upstreamNetworks.allowLoopback).to.equal(true);
  });

  it("allow websites' credentials no private network unless it is named", () => {
    expect(readSettings({}).upstreamNetworks.networks).to.deep.equal([]);
    const { networks } = readSettings({
      ALLOW_UPSTREAM_NETWORKS: "10.0.0.0/8, fd00::/8,192.168.1.7",
    }).upstreamNetworks;
    expect(networks).to.deep.equal(["10.0.0.0/8", "fd00::/8", "192.168.1.7"]);
  });

  it("repeat nothing of a server's address, which may hold a key", () => {
    for (const value of ["openai:http://h/?model=m&key=hunter2", "openai:http://hunter2@h/", "hunter2"]) {
      expect(() => readSettings({ ENGINE_G2: value }))
        .to.throw(BadSetting, /^ENGINE_G2: must [^\n]+$/)
        .with.property("message")
        .not.match(/hunter2/);
    }
  });

  it("take a public address without its last slash", () => {
    expect(readSettings({ PUBLIC_URL: "https://tts.example/" }).publicUrl).to.equal("https://tts.example");
  });

  it("serve the Wyoming protocol on the loopback interface, for one key", () => {
    expect(readSettings({ HOST: "0.0.0.0", WYOMING_KEY: "vlk_k.vls_s" }).wyoming).to.equal(undefined);
    expect(
      readSettings({ HOST: "0.0.0.0", WYOMING_PORT: "10200", WYOMING_KEY: "vlk_k.vls_s" }).wyoming,
    ).to.deep.equal({ host: "127.0.0.1", port: 10_200, key: { apiKey: "vlk_k", apiSecret: "vls_s" } });
  });

  it("refuse to serve the Wyoming protocol without a key, and repeat nothing of a malformed one", () => {
    expect(() => readSettings({ WYOMING_PORT: "10200" })).to.throw(
      BadSetting,
      /^WYOMING_KEY: is required with WYOMING_PORT[^\n]+$/,
    );
    for (const value of ["vlk_hunter2", "vls_hunter2.vlk_k", "vlk_k.vls_hunter2.x"]) {
      expect(() => readSettings({ WYOMING_PORT: "10200", WYOMING_KEY: value }))
        .to.throw(BadSetting, /^WYOMING_KEY: must be a key and its secret[^\n]+$/)
        .with.property("message")
        .not.match(/hunter2/);
    }
  });

  for (const [name, value] of [
    ["PORT", "http"],
    ["PORT", "70000"],
    ["PUBLIC_URL", "ftp://x"],
    ["EVENT_STORE", "mysql:x"],
    ["EVENT_STORE", "esdb://"],
    ["EVENT_STORE", "kurrentdb://127.0.0.1"],
    ["AUDIO_STORE", "x"],
    ["AUDIO_STORE", "file:"],
    ["AUDIO_STORE", "s3:"],
    ["AUDIO_STORE", "s3:///sounds"],
    ["AUDIO_STORE", "s3://host/sounds"],
    ["AUDIO_STORE", "s3://access@host/sounds"],
    ["AUDIO_STORE", "s3://access:se%cret@host/sounds"],
    ["AUDIO_STORE", "s3://access:secret@host"],
    ["AUDIO_STORE", "s3://access:secret@host/Sounds"],
    ["AUDIO_STORE", "s3://access:secret@host/sounds/of/mine"],
    ["AUDIO_STORE", "s3://access:secret@host:99999/sounds"],
    ["AUDIO_STORE", "s3://access:secret@under_score/sounds"],
    ["AUDIO_STORE", "s3://access:secret@host/sounds?tls=no"],
    ["AUDIO_STORE", "s3://access:secret@host/sounds?public=true"],
    ["AUDIO_STORE", "s3://access:secret@host/sounds#fragment"],
    ["ADMIN_TOKEN", "short"],
    ["ADMIN_TOKEN", "sixteen and more, with spaces"],
    ["ADMIN_TOKEN", "a-token-with-an-\u00e9-in-it"],
    ["PUBLIC_URL", "https://user@tts.example"],
    ["PUBLIC_URL", "https://:secret@tts.example"],
    ["PUBLIC_URL", "https://tts.example/?a=b"],
    ["PUBLIC_URL", "https://tts.example/#"],
    ["MASTER_KEY", "dG9vIHNob3J0"],
    ["MASTER_KEY_PREVIOUS", "dG9vIHNob3J0"],
    ["MASTER_KEY_PREVIOUS", `${Buffer.alloc(32, 1).toString("base64")},no key`],
    ["MASTER_KEY_PREVIOUS", Array(9).fill(Buffer.alloc(32, 1).toString("base64")).join()],
    ["TRUST_PROXY", "10.0.0.0/33"],
    ["TRUST_PROXY", "proxy.local"],
    ["CDN_NETWORKS", "cdn.example"],
    ["HEADER_PREFIX", "X Y"],
    ["MAX_TEXT_CHARACTERS", "0"],
    ["LOG_LEVEL", "loud"],
    ["OPENAI_URL", "nowhere"],
    ["ALLOW_LOOPBACK_UPSTREAMS", "yes"],
    ["ALLOW_UPSTREAM_NETWORKS", "10.0.0.0/33"],
    ["ALLOW_UPSTREAM_NETWORKS", "kokoro.svc"],
    ["ENGINE_G3", "openai:ftp://host?model=m&voices=v"],
    ["PROVIDER_CONCURRENCY", "0"],
    ["PROVIDER_REQUESTS_PER_MINUTE", "-1"],
    ["PROVIDER_TIMEOUT_MS", "5s"],
  ] as const) {
    it(`refuse ${name}=${value} in one line that names it`, () => {
      expect(() => readSettings({ [name]: value }))
        .to.throw(BadSetting, new RegExp(`^${name}: `))
        .with.property("message")
        .that.does.not.include("\n");
    });
  }

  it("name both forms of an engine", () => {
    expect(() => readSettings({ ENGINE_G1: "kokoro" })).to.throw("openai:URL or sherpa:PATH,PATH");
  });

  for (const [given, meant] of [
    ["EVENTSTORE", "EVENT_STORE"],
    ["event_store", "EVENT_STORE"],
    ["EVENT-STORE", "EVENT_STORE"],
    ["EVNET_STORE", "EVENT_STORE"],
    ["EVENT_STORES", "EVENT_STORE"],
    ["VOXLEDGER_EVENT_STORE", "EVENT_STORE"],
    ["MASTERKEY", "MASTER_KEY"],
    ["MASTER_KYE", "MASTER_KEY"],
    ["MASTER_KEY_PREVIUOS", "MASTER_KEY_PREVIOUS"],
    ["ADMIN_TOKENS", "ADMIN_TOKEN"],
    ["PUBLIC_URI", "PUBLIC_URL"],
    ["TRUSTED_PROXY", "TRUST_PROXY"],
    ["ENGINE_G4", "ENGINE_G1"],
    ["METRIC_PORT", "METRICS_PORT"],
    ["OTEL_TRACE_EXPORTER", "OTEL_TRACES_EXPORTER"],
    ["port", "PORT"],
  ] as const) {
    it(`refuse ${given} in one line that names it and ${meant}`, () => {
      expect(() => readSettings({ [given]: "s3cr3t" })).to.throw(
        BadSetting,
        new RegExp(`^${given}: there is no such setting; did you mean ${meant}\\?$`),
      );
    });
  }

  it("ignore a misspelled variable that is empty", () => {
    expect(readSettings({ EVENTSTORE: "" }).eventStore.kind).to.equal("sqlite");
  });

  it("ignore what shells, npm, Node, Docker and Kubernetes set", () => {
    expect(() => readSettings(foreignVariables)).not.to.throw();
  });

  it("ignore the links to services beside a container, whatever these are called", () => {
    for (const service of ["VOXLEDGER", "EVENT_STORE", "EVENTSTORE", "AUDIO_STORE", "METRIC", "MASTER_KEY"]) {
      expect(() => readSettings(serviceLinks(service)), service).not.to.throw();
    }
  });

  it("ignore OpenTelemetry's other standard variables", () => {
    for (const name of otherOtelVariables) expect(() => readSettings({ [name]: "1" }), name).not.to.throw();
  });

  for (const [name, value] of [
    ["MASTER_KEY", "s3cr3t-value!!"],
    ["MASTER_KEY_PREVIOUS", "s3cr3t-value!!"],
    ["SEAL_KEY_PREVIOUS", "s3cr3t-value!!"],
    ["AUDIO_STORE", "s3://access:s3cr3t@host/sounds?tls=no"],
    ["AUDIO_STORE", "s3://access:s3cr3t/with+slash@host/sounds"],
    ["AUDIO_STORE", "S3-access:s3cr3t@host/sounds"],
  ] as const) {
    it(`never repeat a secret in a refusal: ${name}=${value}`, () => {
      expect(() => readSettings({ [name]: value }))
        .to.throw(BadSetting)
        .with.property("message")
        .that.does.not.include("s3cr3t");
    });
  }
});

/**
 * As they are in a login shell, a desktop session, an npm script, a CI job, a container and a pod.
 */
const foreignVariables = Object.fromEntries(
  `
  _ BASH_ENV CI COLORTERM COLUMNS CONTAINER DBUS_SESSION_BUS_ADDRESS DEBIAN_FRONTEND DISPLAY EDITOR FORCE_COLOR GOPATH GPG_TTY
  GITHUB_ACTIONS GITHUB_TOKEN GLOG_LEVEL HISTSIZE HOME HOSTNAME HOSTTYPE HTTPS_PROXY HTTP_PROXY INIT_CWD INVOCATION_ID
  JAVA_HOME JOURNAL_STREAM LANG LANGUAGE LC_ALL LD_LIBRARY_PATH LESS LINES LOGNAME LS_COLORS MAIL MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_
  MALLOC_TRIM_THRESHOLD_ MANPATH
  NODE NODE_COMPILE_CACHE NODE_ENV NODE_EXTRA_CA_CERTS NODE_OPTIONS NODE_PATH NODE_VERSION NO_COLOR NO_PROXY OLDPWD OSTYPE
  PAGER PATH PGDATA POD_IP POD_NAME POD_NAMESPACE PS1 PWD SHELL SHLVL SSH_AUTH_SOCK SSH_CONNECTION SUDO_USER TERM TMPDIR TZ
  USER VIRTUAL_ENV VISUAL XAUTHORITY XDG_CONFIG_DIRS XDG_DATA_DIRS XDG_RUNTIME_DIR XDG_SESSION_ID YARN_VERSION
  AWS_ACCESS_KEY_ID AWS_REGION AWS_SECRET_ACCESS_KEY AZURE_CLIENT_ID AZURE_SPEECH_KEY AZURE_SPEECH_REGION GCP_PROJECT
  GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT OPENAI_API_KEY OPENAI_BASE_URL OPENAI_ORG S3_SECRET
  EVENTSTORE_CLUSTER_SIZE EVENTSTORE_INSECURE EVENTSTORE_RUN_PROJECTIONS KURRENTDB_INSECURE MINIO_ROOT_PASSWORD
  KUBERNETES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS no_proxy http_proxy
  npm_command npm_config_cache npm_config_local_prefix npm_config_loglevel npm_config_user_agent npm_execpath
  npm_lifecycle_event npm_lifecycle_script npm_node_execpath npm_package_json npm_package_name npm_package_version
  `
    .trim()
    .split(/\s+/)
    .map((name) => [name, "x"]),
);

/**
 * The variables that Kubernetes sets in a pod for a service of this name (Kubernetes, "Accessing
 * the Service"; Docker's links are the same).
 */
const serviceLinks = (service: string): Record<string, string> => ({
  [`${service}_SERVICE_HOST`]: "10.0.0.11",
  [`${service}_SERVICE_PORT`]: "2113",
  [`${service}_SERVICE_PORT_HTTP`]: "2113",
  [`${service}_PORT`]: "tcp://10.0.0.11:2113",
  [`${service}_PORT_2113_TCP`]: "tcp://10.0.0.11:2113",
  [`${service}_PORT_2113_TCP_PROTO`]: "tcp",
  [`${service}_PORT_2113_TCP_PORT`]: "2113",
  [`${service}_PORT_2113_TCP_ADDR`]: "10.0.0.11",
});

const otherOtelVariables = `
  OTEL_ATTRIBUTE_COUNT_LIMIT OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT OTEL_BLRP_EXPORT_TIMEOUT OTEL_BLRP_SCHEDULE_DELAY
  OTEL_BSP_EXPORT_TIMEOUT OTEL_BSP_MAX_EXPORT_BATCH_SIZE OTEL_BSP_MAX_QUEUE_SIZE OTEL_BSP_SCHEDULE_DELAY
  OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_EXPORTER_OTLP_COMPRESSION OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_INSECURE
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT OTEL_EXPORTER_OTLP_LOGS_PROTOCOL OTEL_EXPORTER_OTLP_METRICS_HEADERS
  OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE OTEL_EXPORTER_OTLP_METRICS_TIMEOUT OTEL_EXPORTER_OTLP_TIMEOUT
  OTEL_EXPORTER_OTLP_TRACES_HEADERS OTEL_EXPORTER_OTLP_TRACES_TIMEOUT OTEL_EXPORTER_PROMETHEUS_HOST
  OTEL_EXPORTER_PROMETHEUS_PORT OTEL_EXPORTER_ZIPKIN_ENDPOINT OTEL_LOGS_EXPORTER OTEL_LOG_LEVEL OTEL_METRICS_EXEMPLAR_FILTER
  OTEL_NODE_RESOURCE_DETECTORS OTEL_PROPAGATORS OTEL_RESOURCE_ATTRIBUTES OTEL_SERVICE_NAME OTEL_SPAN_EVENT_COUNT_LIMIT
  OTEL_SPAN_LINK_COUNT_LIMIT
`
  .trim()
  .split(/\s+/);
